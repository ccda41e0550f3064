/** The door: authentication, discovery, health, version, tables, HTTP. */
import assert from 'node:assert/strict';
import { connect } from 'node:http2';
import { uniqueName, type Json } from './api-caller.ts';
import { CONFIG_MAPS, NODES, SERVICES, type ContractTest } from './contract-test.ts';

const AGGREGATED = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json';
const TABLE = { headers: { accept: 'application/json;as=Table;v=v1;g=meta.k8s.io,application/json' } };

export function protocolTests(test: ContractTest): void {
  test('a wrong token is 401 Unauthorized, no token is refused', async (api) => {
    const { status, body } = await api.get(NODES, { token: 'wrong' });
    assert.equal(status, 401);
    assert.equal(body.reason, 'Unauthorized');
    assert.equal(body.code, 401);
    const none = await api.get(NODES, { token: null });
    assert.ok(none.status === 401 || none.status === 403);
  });

  test('health is ok, without a token too', async (api) => {
    for (const path of ['/healthz', '/livez', '/readyz']) {
      const { status, body } = await api.get(path, { token: null });
      assert.equal(status, 200, path);
      assert.equal(body, 'ok');
    }
  });

  test('the version is one that clients can compare', async (api) => {
    const { body } = await api.get('/version');
    assert.match(body.gitVersion, /^v1\.\d+\.\d+/);
    assert.equal(body.major, '1');
  });

  test('discovery: /api, /apis, one group, one version', async (api) => {
    assert.deepEqual((await api.get('/api')).body.versions, ['v1']);
    const groups = (await api.get('/apis')).body;
    assert.equal(groups.kind, 'APIGroupList');
    const coordination = groups.groups.find((group: Json) => group.name === 'coordination.k8s.io');
    assert.equal(coordination.preferredVersion.groupVersion, 'coordination.k8s.io/v1');
    assert.equal((await api.get('/apis/coordination.k8s.io')).body.kind, 'APIGroup');
    const core = (await api.get('/api/v1')).body;
    assert.equal(core.kind, 'APIResourceList');
    assert.equal(core.groupVersion, 'v1');
    const nodes = core.resources.find((resource: Json) => resource.name === 'nodes');
    assert.deepEqual([nodes.kind, nodes.namespaced, nodes.singularName], ['Node', false, 'node']);
    assert.deepEqual(nodes.shortNames, ['no']);
    for (const verb of ['create', 'delete', 'deletecollection', 'get', 'list', 'patch', 'update', 'watch']) {
      assert.ok(nodes.verbs.includes(verb), verb);
    }
    assert.ok(core.resources.some((resource: Json) => resource.name === 'nodes/status'));
  });

  test('discovery in one piece, as kubectl asks first', async (api) => {
    const { body, headers } = await api.get('/api', { headers: { accept: AGGREGATED } });
    assert.match(headers['content-type'] ?? '', /as=APIGroupDiscoveryList/);
    assert.equal(body.kind, 'APIGroupDiscoveryList');
    const nodes = body.items[0].versions[0].resources.find((resource: Json) => resource.resource === 'nodes');
    assert.equal(nodes.scope, 'Cluster');
    assert.equal(nodes.responseKind.kind, 'Node');
    assert.ok(nodes.subresources.some((entry: Json) => entry.subresource === 'status'));
    const groups = (await api.get('/apis', { headers: { accept: AGGREGATED } })).body.items;
    assert.ok(groups.some((group: Json) => group.metadata.name === 'coordination.k8s.io'));
  });

  test('OpenAPI v3 says that the server validates fields', async (api) => {
    const { paths } = (await api.get('/openapi/v3')).body;
    const { serverRelativeURL } = paths['api/v1'];
    const document = (await api.get(serverRelativeURL)).body;
    const { patch } = document.paths['/api/v1/nodes/{name}'];
    assert.equal(patch['x-kubernetes-group-version-kind'].kind, 'Node');
    assert.ok(patch.parameters.some((parameter: Json) => parameter.name === 'fieldValidation'));
  });

  test('a resource or path that does not exist is 404', async (api) => {
    assert.equal((await api.get('/api/v1/unicorns')).status, 404);
    assert.equal((await api.get('/apis/unicorn.example/v1/unicorns')).status, 404);
    assert.equal((await api.get('/unicorns')).status, 404);
  });

  test('a method that does not fit is 405', async (api) => {
    for (const [method, path] of [
      ['PUT', NODES],
      ['POST', `${NODES}/x`],
      ['DELETE', `${NODES}/x/status`],
    ] as const) {
      const { status, body } = await api.call(method, path, {});
      assert.equal(status, 405, `${method} ${path}`);
      assert.equal(body.reason, 'MethodNotAllowed');
    }
  });

  test('nodes as a Table have the columns of kubectl get -o wide', async (api) => {
    const name = uniqueName('table');
    await api.post(NODES, {
      metadata: { name, labels: { 'node-role.kubernetes.io/worker': '', table: name } },
      spec: { unschedulable: true },
      status: {
        addresses: [
          { type: 'InternalIP', address: '10.0.0.1' },
          { type: 'ExternalIP', address: '192.0.2.1' },
        ],
        conditions: [{ type: 'Ready', status: 'True' }],
        nodeInfo: { kubeletVersion: 'v1.37.1', osImage: 'OS', kernelVersion: '6', containerRuntimeVersion: 'c://2' },
      },
    });
    const { body } = await api.get(`${NODES}?labelSelector=table%3D${name}`, TABLE);
    assert.equal(body.kind, 'Table');
    assert.deepEqual(
      body.columnDefinitions.map((column: Json) => [column.name, column.priority]),
      [
        ['Name', 0],
        ['Status', 0],
        ['Roles', 0],
        ['Age', 0],
        ['Version', 0],
        ['Internal-IP', 1],
        ['External-IP', 1],
        ['OS-Image', 1],
        ['Kernel-Version', 1],
        ['Container-Runtime', 1],
      ],
    );
    const [row] = body.rows;
    const cells = [...row.cells];
    assert.match(cells.splice(3, 1)[0], /^\d+s$/);
    const expected = [
      name,
      'Ready,SchedulingDisabled',
      'worker',
      'v1.37.1',
      '10.0.0.1',
      '192.0.2.1',
      'OS',
      '6',
      'c://2',
    ];
    assert.deepEqual(cells, expected);
    assert.equal(row.object.kind, 'PartialObjectMetadata');
    assert.equal(row.object.metadata.name, name);
  });

  test('rows of services, leases, events, volumes and namespaces are those of kubectl get', async (api) => {
    const name = uniqueName('row');
    const row = async (path: string): Promise<Json[]> => (await api.get(path, TABLE)).body.rows[0].cells;
    await api.post(SERVICES, {
      metadata: { name },
      spec: { type: 'LoadBalancer', selector: { app: 'x' }, ports: [{ port: 80 }] },
    });
    const service = await row(`${SERVICES}/${name}`);
    assert.deepEqual([service[0], service[1], service[3], service[6]], [name, 'LoadBalancer', '<pending>', 'app=x']);
    assert.match(service[4], /^80:3\d{4}\/TCP$/);
    const leases = '/apis/coordination.k8s.io/v1/namespaces/default/leases';
    await api.post(leases, { metadata: { name }, spec: { holderIdentity: 'me' } });
    assert.deepEqual((await row(`${leases}/${name}`)).slice(0, 2), [name, 'me']);
    const events = '/api/v1/namespaces/default/events';
    const involvedObject = { kind: 'Node', name: 'n' };
    await api.post(events, { metadata: { name }, involvedObject, reason: 'R', message: 'm', type: 'Normal' });
    assert.deepEqual(await row(`${events}/${name}`), [
      '<unknown>',
      'Normal',
      'R',
      'node/n',
      '',
      '',
      'm',
      '<unknown>',
      1,
      name,
    ]);
    const spec = { capacity: { storage: '1Gi' }, accessModes: ['ReadWriteOnce'], hostPath: { path: '/x' } };
    await api.post('/api/v1/persistentvolumes', { metadata: { name }, spec });
    const volume = await row(`/api/v1/persistentvolumes/${name}`);
    assert.deepEqual(volume.slice(0, 9), [name, '1Gi', 'RWO', 'Retain', 'Pending', '', '', '<unset>', '']);
    assert.deepEqual((await row('/api/v1/namespaces/default')).slice(0, 2), ['default', 'Active']);
  });

  test('a table shows whole objects, or none, when asked', async (api) => {
    const name = uniqueName('shown');
    await api.post(CONFIG_MAPS, { metadata: { name }, data: { a: 'b' } });
    const whole = (await api.get(`${CONFIG_MAPS}/${name}?includeObject=Object`, TABLE)).body;
    assert.equal(whole.rows[0].object.data.a, 'b');
    const none = (await api.get(`${CONFIG_MAPS}/${name}?includeObject=None`, TABLE)).body;
    assert.ok(!none.rows[0].object);
  });

  test('HTTP/2 over TLS serves many requests on one connection', async (api) => {
    const { url, ca, token } = api.subject;
    if (!url.startsWith('https:')) return;
    const session = connect(url, ca === undefined ? {} : { ca });
    const read = (): Promise<number> =>
      new Promise((resolve, reject) => {
        const stream = session.request({ ':path': '/api/v1/namespaces', authorization: `Bearer ${token}` });
        stream.on('response', (headers) => resolve(Number(headers[':status'])));
        stream.on('error', reject);
        stream.resume();
        stream.end();
      });
    try {
      assert.deepEqual(await Promise.all(Array.from({ length: 20 }, read)), Array<number>(20).fill(200));
    } finally {
      session.destroy();
    }
  });
}
