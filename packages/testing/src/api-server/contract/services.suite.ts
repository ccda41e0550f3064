/** Services: defaults, what the server allocates, and what may change. */
import assert from 'node:assert/strict';
import { uniqueName, MERGE_PATCH, type ApiCaller, type Answer, type Json } from './api-caller.ts';
import { SERVICES, type ContractTest } from './contract-test.ts';

async function createService(api: ApiCaller, spec: Json): Promise<Answer & { readonly path: string }> {
  const name = uniqueName('svc');
  const answer = await api.post(SERVICES, { metadata: { name }, spec });
  return { ...answer, path: `${SERVICES}/${name}` };
}

const PORTS = [{ port: 80 }];

export function serviceTests(test: ContractTest): void {
  test('a service of type LoadBalancer gets cluster IP, node ports and defaults; its status is not taken from the client', async (api) => {
    const { status, body } = await api.post(SERVICES, {
      metadata: { name: uniqueName('svc') },
      spec: { type: 'LoadBalancer', ports: [{ port: 80 }] },
      status: { loadBalancer: { ingress: [{ ip: '192.0.2.1' }] } },
    });
    assert.equal(status, 201);
    const { spec } = body;
    assert.match(spec.clusterIP, /^\d+\.\d+\.\d+\.\d+$/);
    assert.deepEqual(spec.clusterIPs, [spec.clusterIP]);
    assert.deepEqual(spec.ipFamilies, ['IPv4']);
    assert.equal(spec.ipFamilyPolicy, 'SingleStack');
    assert.equal(spec.sessionAffinity, 'None');
    assert.equal(spec.externalTrafficPolicy, 'Cluster');
    assert.equal(spec.internalTrafficPolicy, 'Cluster');
    assert.equal(spec.allocateLoadBalancerNodePorts, true);
    const [port] = spec.ports;
    assert.equal(port.protocol, 'TCP');
    assert.equal(port.targetPort, 80);
    assert.ok(port.nodePort >= 30_000 && port.nodePort <= 32_767);
    assert.deepEqual(body.status, { loadBalancer: {} });
  });

  test('a service of type ClusterIP gets no node ports, a headless one no IP', async (api) => {
    const plain = await api.post(SERVICES, { metadata: { name: uniqueName('svc') }, spec: { ports: [{ port: 80 }] } });
    assert.equal(plain.body.spec.type, 'ClusterIP');
    assert.equal(plain.body.spec.ports[0].nodePort, undefined);
    assert.equal(plain.body.spec.externalTrafficPolicy, undefined);
    const headless = await api.post(SERVICES, {
      metadata: { name: uniqueName('svc') },
      spec: { clusterIP: 'None', ports: [{ port: 80 }] },
    });
    assert.equal(headless.body.spec.clusterIP, 'None');
    assert.deepEqual(headless.body.spec.clusterIPs, ['None']);
  });

  test('no two services get one node port or one cluster IP, and these survive a replacement without them', async (api) => {
    const names = Array.from({ length: 5 }, () => uniqueName('svc'));
    const made = await Promise.all(
      names.map((name) =>
        api.post(SERVICES, { metadata: { name }, spec: { type: 'NodePort', ports: [{ port: 80 }] } }),
      ),
    );
    assert.equal(new Set(made.map(({ body }) => body.spec.clusterIP)).size, 5);
    assert.equal(new Set(made.map(({ body }) => body.spec.ports[0].nodePort)).size, 5);
    const [first] = made;
    const name = names[0]!;
    const replaced = await api.put(`${SERVICES}/${name}`, {
      metadata: { name },
      spec: { type: 'NodePort', ports: [{ port: 80 }] },
    });
    assert.equal(replaced.status, 200);
    assert.equal(replaced.body.spec.clusterIP, first!.body.spec.clusterIP);
    assert.equal(replaced.body.spec.ports[0].nodePort, first!.body.spec.ports[0].nodePort);
  });

  test('traffic policy Local on a load balancer allocates a health check port', async (api) => {
    const { body } = await api.post(SERVICES, {
      metadata: { name: uniqueName('svc') },
      spec: { type: 'LoadBalancer', externalTrafficPolicy: 'Local', ports: [{ port: 80 }] },
    });
    assert.ok(body.spec.healthCheckNodePort >= 30_000);
  });

  test('a load balancer turned into ClusterIP loses node ports and status', async (api) => {
    const name = uniqueName('svc');
    await api.post(SERVICES, { metadata: { name }, spec: { type: 'LoadBalancer', ports: [{ port: 80 }] } });
    await api.patch(`${SERVICES}/${name}/status`, MERGE_PATCH, {
      status: { loadBalancer: { ingress: [{ ip: '192.0.2.1' }] } },
    });
    const { status, body } = await api.patch(`${SERVICES}/${name}`, MERGE_PATCH, { spec: { type: 'ClusterIP' } });
    assert.equal(status, 200, JSON.stringify(body));
    assert.equal(body.spec.ports[0].nodePort, undefined);
    assert.equal(body.spec.externalTrafficPolicy, undefined);
    assert.equal(body.spec.allocateLoadBalancerNodePorts, undefined);
    assert.deepEqual(body.status, { loadBalancer: {} });
  });

  test('services are checked: type, ports, port names', async (api) => {
    const create = (spec: Json): Promise<Json> => api.post(SERVICES, { metadata: { name: uniqueName('svc') }, spec });
    assert.equal((await create({ type: 'Other', ports: [{ port: 80 }] })).status, 422);
    assert.equal((await create({ ports: [] })).status, 422);
    assert.equal((await create({ ports: [{ port: 0 }] })).status, 422);
    assert.equal((await create({ ports: [{ port: 80 }, { port: 81 }] })).status, 422);
    assert.equal((await create({ ports: [{ port: 80, protocol: 'X' }] })).status, 422);
  });

  test('a deleted service is answered with the object', async (api) => {
    const name = uniqueName('svc');
    await api.post(SERVICES, { metadata: { name }, spec: { ports: [{ port: 80 }] } });
    const { status, body } = await api.delete(`${SERVICES}/${name}`);
    assert.equal(status, 200);
    assert.equal(body.kind, 'Service');
  });

  test('a cluster IP or node port that another service has is 422, and is free again once that is deleted', async (api) => {
    const first = await createService(api, { type: 'NodePort', ports: PORTS });
    const { clusterIP, ports } = first.body.spec;
    const { nodePort } = ports[0];
    const taken = await createService(api, { clusterIP, ports: PORTS });
    assert.equal(taken.status, 422);
    assert.equal(taken.body.details.causes[0].field, 'spec.clusterIPs');
    const port = await createService(api, { type: 'NodePort', ports: [{ port: 80, nodePort }] });
    assert.equal(port.status, 422);
    assert.equal(port.body.details.causes[0].field, 'spec.ports[0].nodePort');
    await api.delete(first.path);
    const free = await createService(api, { type: 'NodePort', clusterIP, ports: [{ port: 80, nodePort }] });
    assert.equal(free.status, 201, JSON.stringify(free.body));
    assert.equal(free.body.spec.clusterIP, clusterIP);
    assert.equal(free.body.spec.ports[0].nodePort, nodePort);
  });

  test('a refused change of a service leaves what it holds with it', async (api) => {
    const one = await createService(api, { type: 'NodePort', ports: PORTS });
    const two = await createService(api, { type: 'NodePort', ports: PORTS });
    const wanted = one.body.spec.ports[0].nodePort;
    const ports = [{ port: 80, nodePort: wanted }];
    assert.equal((await api.patch(two.path, MERGE_PATCH, { spec: { ports } })).status, 422);
    assert.deepEqual((await api.get(two.path)).body, two.body);
    const steal = [{ port: 80, nodePort: two.body.spec.ports[0].nodePort }];
    assert.equal((await createService(api, { type: 'NodePort', ports: steal })).status, 422);
  });

  test('a cluster IP cannot be changed', async (api) => {
    const { path } = await createService(api, { ports: PORTS });
    const changed = await api.patch(path, MERGE_PATCH, {
      spec: { clusterIP: '10.96.255.250', clusterIPs: ['10.96.255.250'] },
    });
    assert.equal(changed.status, 422);
  });

  test('ClusterIP turned into LoadBalancer gets node ports and keeps its IP', async (api) => {
    const { path, body } = await createService(api, { ports: PORTS });
    const turned = await api.patch(path, MERGE_PATCH, { spec: { type: 'LoadBalancer' } });
    assert.equal(turned.status, 200);
    assert.equal(turned.body.spec.clusterIP, body.spec.clusterIP);
    assert.ok(turned.body.spec.ports[0].nodePort >= 30_000);
    assert.equal(turned.body.spec.externalTrafficPolicy, 'Cluster');
  });

  test('a load balancer without node ports gets none', async (api) => {
    const spec = { type: 'LoadBalancer', allocateLoadBalancerNodePorts: false, ports: PORTS };
    const { body } = await createService(api, spec);
    assert.equal(body.spec.ports[0].nodePort, undefined);
  });

  test('a loadBalancerClass cannot be changed', async (api) => {
    const spec = { type: 'LoadBalancer', loadBalancerClass: 'a.example/x', ports: PORTS };
    const { path, status } = await createService(api, spec);
    assert.equal(status, 201);
    const changed = await api.patch(path, MERGE_PATCH, { spec: { loadBalancerClass: 'b.example/y' } });
    assert.equal(changed.status, 422);
    assert.equal(changed.body.details.causes[0].field, 'spec.loadBalancerClass');
  });

  test('a service with an external name has no IP', async (api) => {
    const { status, body } = await createService(api, { type: 'ExternalName', externalName: 'other.example' });
    assert.equal(status, 201);
    assert.equal(body.spec.clusterIP, undefined);
    assert.equal(body.spec.ipFamilies, undefined);
    assert.equal(body.spec.internalTrafficPolicy, undefined);
  });

  test('ports that are added get a node port, those that stay keep theirs', async (api) => {
    const { path, body } = await createService(api, { type: 'NodePort', ports: [{ name: 'a', port: 80 }] });
    const [{ nodePort }] = body.spec.ports;
    const more = await api.patch(path, MERGE_PATCH, {
      spec: {
        ports: [
          { name: 'a', port: 80, nodePort },
          { name: 'b', port: 81 },
        ],
      },
    });
    assert.equal(more.status, 200, JSON.stringify(more.body));
    assert.equal(more.body.spec.ports[0].nodePort, nodePort);
    assert.ok(more.body.spec.ports[1].nodePort >= 30_000);
    assert.notEqual(more.body.spec.ports[1].nodePort, nodePort);
  });

  test('the status of a load balancer: ingress with IP mode, conditions', async (api) => {
    const { path } = await createService(api, { type: 'LoadBalancer', ports: PORTS });
    const ingress = [{ ip: '192.0.2.1', ipMode: 'Proxy' }];
    const condition = {
      type: 'LoadBalancerPortsError',
      status: 'True',
      reason: 'R',
      message: 'm',
      lastTransitionTime: '2026-01-01T00:00:00Z',
    };
    const { status, body } = await api.patch(`${path}/status`, MERGE_PATCH, {
      spec: { type: 'ClusterIP' },
      status: { loadBalancer: { ingress }, conditions: [condition] },
    });
    assert.equal(status, 200, JSON.stringify(body));
    assert.deepEqual(body.status, { loadBalancer: { ingress }, conditions: [condition] });
    assert.equal(body.spec.type, 'LoadBalancer');
  });

  test('deletecollection of services takes a selector', async (api) => {
    const group = uniqueName('group');
    for (let i = 0; i < 2; i++) {
      await api.post(SERVICES, { metadata: { name: uniqueName('svc'), labels: { group } }, spec: { ports: PORTS } });
    }
    const { status } = await api.delete(`${SERVICES}?labelSelector=group%3D${group}`);
    assert.equal(status, 200);
    assert.deepEqual((await api.get(`${SERVICES}?labelSelector=group%3D${group}`)).body.items, []);
  });
}
