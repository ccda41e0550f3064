/** What single kinds do on top of the common rules. */
import assert from 'node:assert/strict';
import { uniqueName, MERGE_PATCH, type Json } from './api-caller.ts';
import { NODES, type ContractTest } from './contract-test.ts';

const EVENTS = '/api/v1/namespaces/default/events';
const VOLUMES = '/api/v1/persistentvolumes';

export function kindTests(test: ContractTest): void {
  test('a node registers with its status; later updates of the object leave status alone', async (api) => {
    const name = uniqueName('node');
    const addresses = [{ type: 'InternalIP', address: '10.0.0.1' }];
    const { body } = await api.post(NODES, { metadata: { name }, status: { addresses } });
    assert.deepEqual(body.status.addresses, addresses);
    const patched = await api.patch(`${NODES}/${name}`, MERGE_PATCH, {
      metadata: { labels: { a: 'b' } },
      status: { addresses: [] },
    });
    assert.equal(patched.body.metadata.labels.a, 'b');
    assert.deepEqual(patched.body.status.addresses, addresses);
  });

  test('an update of a node status leaves spec alone', async (api) => {
    const name = uniqueName('node');
    await api.post(NODES, { metadata: { name } });
    const { status, body } = await api.patch(`${NODES}/${name}/status`, MERGE_PATCH, {
      spec: { unschedulable: true },
      status: { addresses: [{ type: 'Hostname', address: 'h' }] },
    });
    assert.equal(status, 200);
    assert.equal(body.spec.unschedulable, undefined);
    assert.equal(body.status.addresses[0].address, 'h');
    const put = await api.put(`${NODES}/${name}/status`, { ...body, status: {} });
    assert.equal(put.status, 200);
    assert.equal(put.body.status.addresses, undefined);
    assert.equal((await api.get(`${NODES}/${name}/status`)).body.metadata.name, name);
  });

  test('a provider ID can be set once', async (api) => {
    const name = uniqueName('node');
    await api.post(NODES, { metadata: { name } });
    const set = await api.patch(`${NODES}/${name}`, MERGE_PATCH, { spec: { providerID: 'cloud://1' } });
    assert.equal(set.body.spec.providerID, 'cloud://1');
    for (const providerID of ['cloud://2', null]) {
      const changed = await api.patch(`${NODES}/${name}`, MERGE_PATCH, { spec: { providerID } });
      assert.equal(changed.status, 422);
      assert.equal(changed.body.details.causes[0].field, 'spec.providerID');
    }
  });

  test('a pod CIDR sets both fields, once', async (api) => {
    const name = uniqueName('node');
    await api.post(NODES, { metadata: { name } });
    const set = await api.patch(`${NODES}/${name}`, MERGE_PATCH, { spec: { podCIDR: '10.1.0.0/24' } });
    assert.deepEqual(set.body.spec.podCIDRs, ['10.1.0.0/24']);
    const changed = await api.patch(`${NODES}/${name}`, MERGE_PATCH, {
      spec: { podCIDR: '10.2.0.0/24', podCIDRs: ['10.2.0.0/24'] },
    });
    assert.equal(changed.status, 422);
    assert.equal(changed.body.details.causes[0].field, 'spec.podCIDRs');
  });

  test('taints are checked: key, effect, no two of the same key and effect', async (api) => {
    const taints = async (...list: Json[]): Promise<Json> => {
      const { status, body } = await api.post(NODES, {
        metadata: { name: uniqueName('node') },
        spec: { taints: list },
      });
      return status === 201 ? 'ok' : body.details.causes.map((cause: Json) => `${cause.field} ${cause.reason}`);
    };
    assert.equal(await taints({ key: 'a.example/b', value: 'c', effect: 'NoExecute' }), 'ok');
    assert.deepEqual(await taints({ key: 'a b', effect: 'X' }), [
      'metadata.taints[0].key FieldValueInvalid',
      'metadata.taints[0].effect FieldValueNotSupported',
    ]);
    const twice = await taints({ key: 'a', effect: 'NoSchedule' }, { key: 'a', value: 'v', effect: 'NoSchedule' });
    assert.deepEqual(twice, ['metadata.taints[1] FieldValueDuplicate']);
    assert.equal(await taints({ key: 'a', effect: 'NoSchedule' }, { key: 'a', effect: 'NoExecute' }), 'ok');
  });

  test('an emptied list of taints is no list', async (api) => {
    const name = uniqueName('node');
    await api.post(NODES, { metadata: { name }, spec: { taints: [{ key: 'a', effect: 'NoSchedule' }] } });
    const { body } = await api.patch(`${NODES}/${name}`, MERGE_PATCH, { spec: { taints: [] } });
    assert.ok(!('taints' in body.spec));
  });

  test('an event is one object in core/v1 and events.k8s.io/v1', async (api) => {
    const name = uniqueName('event');
    await api.post(EVENTS, {
      metadata: { name },
      involvedObject: { kind: 'Node', name: 'n' },
      reason: 'Tested',
      message: 'what happened',
      type: 'Normal',
      source: { component: 'suite' },
      count: 3,
    });
    const { body } = await api.get(`/apis/events.k8s.io/v1/namespaces/default/events/${name}`);
    assert.equal(body.apiVersion, 'events.k8s.io/v1');
    assert.equal(body.note, 'what happened');
    assert.equal(body.regarding.kind, 'Node');
    assert.equal(body.deprecatedSource.component, 'suite');
    assert.equal(body.deprecatedCount, 3);
    const made = await api.post('/apis/events.k8s.io/v1/namespaces/default/events', {
      metadata: { name: `${name}-2` },
      regarding: { kind: 'Node', name: 'n' },
      reason: 'Tested',
      note: 'the other way',
      type: 'Warning',
      action: 'Test',
      reportingController: 'suite.example/c',
      reportingInstance: 'c-1',
      eventTime: '2026-01-01T00:00:00.000000Z',
    });
    assert.equal(made.status, 201, JSON.stringify(made.body));
    const core = await api.get(`${EVENTS}/${name}-2`);
    assert.equal(core.body.message, 'the other way');
    assert.equal(core.body.involvedObject.kind, 'Node');
    assert.equal(core.body.reportingComponent, 'suite.example/c');
  });

  test('an event of an object in another namespace is 422', async (api) => {
    const { status } = await api.post(EVENTS, {
      metadata: { name: uniqueName('event') },
      involvedObject: { kind: 'Pod', name: 'p', namespace: 'kube-system' },
      reason: 'Tested',
      message: 'm',
      type: 'Normal',
    });
    assert.equal(status, 422);
  });

  test('a persistent volume is pending and protected, and its labels can be patched', async (api) => {
    const name = uniqueName('pv');
    const { status, body } = await api.post(VOLUMES, {
      metadata: { name },
      spec: { capacity: { storage: '1Gi' }, accessModes: ['ReadWriteOnce'], hostPath: { path: '/x' } },
    });
    assert.equal(status, 201, JSON.stringify(body));
    assert.equal(body.status.phase, 'Pending');
    assert.deepEqual(body.metadata.finalizers, ['kubernetes.io/pv-protection']);
    assert.equal(body.spec.persistentVolumeReclaimPolicy, 'Retain');
    const zone = { 'topology.kubernetes.io/zone': 'z' };
    const labelled = await api.patch(`${VOLUMES}/${name}`, MERGE_PATCH, { metadata: { labels: zone } });
    assert.deepEqual(labelled.body.metadata.labels, zone);
  });

  test('a namespace is active, labelled with its name, and terminating once deleted: nothing new in it then', async (api) => {
    const name = uniqueName('ns');
    const { body } = await api.post('/api/v1/namespaces', { metadata: { name } });
    assert.equal(body.status.phase, 'Active');
    assert.equal(body.metadata.labels['kubernetes.io/metadata.name'], name);
    const deleted = await api.delete(`/api/v1/namespaces/${name}`);
    assert.equal(deleted.body.status.phase, 'Terminating');
    assert.equal((await api.get(`/api/v1/namespaces/${name}`)).status, 200);
    const late = await api.post(`/api/v1/namespaces/${name}/configmaps`, { metadata: { name: 'late' } });
    assert.equal(late.status, 403);
    const finalized = await api.put(`/api/v1/namespaces/${name}/finalize`, {
      ...deleted.body,
      spec: { finalizers: [] },
    });
    assert.equal(finalized.status, 200);
    assert.equal((await api.get(`/api/v1/namespaces/${name}`)).status, 404);
  });

  test('an endpoint slice counts changes of its content in generation, not those of its labels', async (api) => {
    const path = '/apis/discovery.k8s.io/v1/namespaces/default/endpointslices';
    const name = uniqueName('slice');
    const endpoints = [{ addresses: ['10.0.0.1'] }];
    const made = await api.post(path, { metadata: { name }, addressType: 'IPv4', ports: [], endpoints });
    assert.equal(made.status, 201, JSON.stringify(made.body));
    assert.equal(made.body.metadata.generation, 1);
    const labelled = await api.patch(`${path}/${name}`, MERGE_PATCH, { metadata: { labels: { a: 'b' } } });
    const changed = await api.patch(`${path}/${name}`, MERGE_PATCH, { endpoints: [{ addresses: ['10.0.0.2'] }] });
    assert.ok(changed.body.metadata.generation > labelled.body.metadata.generation);
  });

  test('labels and finalizers go through the status of a node too', async (api) => {
    const name = uniqueName('node');
    await api.post(NODES, { metadata: { name } });
    const { body } = await api.patch(`${NODES}/${name}/status`, MERGE_PATCH, {
      metadata: { labels: { via: 'status' } },
    });
    assert.equal(body.metadata.labels.via, 'status');
  });

  test('lease times keep their microseconds', async (api) => {
    const path = '/apis/coordination.k8s.io/v1/namespaces/default/leases';
    const name = uniqueName('lease');
    const renewTime = '2026-01-01T00:00:00.123456Z';
    const { body } = await api.post(path, { metadata: { name }, spec: { holderIdentity: 'a', renewTime } });
    assert.equal(body.spec.renewTime, renewTime);
  });
}
