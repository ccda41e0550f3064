/** Patches: JSON, merge, strategic merge. */
import assert from 'node:assert/strict';
import { uniqueName, JSON_PATCH, MERGE_PATCH, STRATEGIC_PATCH, type ApiCaller, type Json } from './api-caller.ts';
import { CONFIG_MAPS, NODES, SERVICES, type ContractTest } from './contract-test.ts';

async function createNode(api: ApiCaller, fields: Json = {}): Promise<{ path: string; made: Json }> {
  const name = uniqueName('patch');
  const { status, body } = await api.post(NODES, { metadata: { name, labels: { x: 'y' } }, ...fields });
  assert.equal(status, 201, JSON.stringify(body));
  return { path: `${NODES}/${name}`, made: body };
}

const address = (type: string, value: string): object => ({ type, address: value });

export function patchTests(test: ContractTest): void {
  test('JSON patch: test, add, replace, remove, copy, move', async (api) => {
    const { path } = await createNode(api, {
      metadata: { name: uniqueName('json'), annotations: { 'a/b': '1', c: '2' } },
    }).then(async ({ made }) => ({ path: `${NODES}/${made.metadata.name}` }));
    const { status, body } = await api.patch(path, JSON_PATCH, [
      { op: 'test', path: '/metadata/annotations/a~1b', value: '1' },
      { op: 'replace', path: '/metadata/annotations/a~1b', value: '9' },
      { op: 'add', path: '/metadata/annotations/new', value: 'n' },
      { op: 'copy', from: '/metadata/annotations/new', path: '/metadata/annotations/copied' },
      { op: 'move', from: '/metadata/annotations/c', path: '/metadata/annotations/moved' },
      { op: 'remove', path: '/metadata/annotations/new' },
    ]);
    assert.equal(status, 200);
    assert.deepEqual(body.metadata.annotations, { 'a/b': '9', copied: 'n', moved: '2' });
  });

  test('JSON patch: a test that fails, a missing parent, a missing value, a bad index and an unknown operation are 422 and change nothing', async (api) => {
    const { path } = await createNode(api);
    const before = (await api.get(path)).body;
    const operations: Json[] = [
      { op: 'test', path: '/metadata/labels/x', value: 'z' },
      { op: 'add', path: '/metadata/nothing/here', value: 'v' },
      { op: 'remove', path: '/metadata/labels/nothing' },
      { op: 'remove', path: '/spec/taints/99' },
      { op: 'bogus', path: '/metadata/labels/x' },
    ];
    for (const operation of operations) {
      const { status, body } = await api.patch(path, JSON_PATCH, [
        { op: 'add', path: '/metadata/labels/half', value: 'done' },
        operation,
      ]);
      assert.equal(status, 422, JSON.stringify(operation));
      assert.equal(body.reason, 'Invalid');
    }
    assert.deepEqual((await api.get(path)).body, before);
  });

  test('JSON patch: the idiom that removes one taint refuses when the taint has moved', async (api) => {
    const taints = [
      { key: 'first', effect: 'NoSchedule' },
      { key: 'second', value: 'v', effect: 'NoExecute' },
    ];
    const { path, made } = await createNode(api, { spec: { taints } });
    const index = made.spec.taints.findIndex((taint: Json) => taint.key === 'second');
    const patch = [
      { op: 'test', path: `/spec/taints/${index}`, value: taints[1] },
      { op: 'remove', path: `/spec/taints/${index}` },
    ];
    const removed = await api.patch(path, JSON_PATCH, patch);
    assert.equal(removed.status, 200);
    assert.ok(removed.body.spec.taints.every((taint: Json) => taint.key !== 'second'));
    assert.equal((await api.patch(path, JSON_PATCH, patch)).status, 422);
  });

  test('JSON patch: a body that is no list is 400', async (api) => {
    const { path } = await createNode(api);
    assert.equal((await api.patch(path, JSON_PATCH, { op: 'remove' })).status, 400);
    assert.equal((await api.patch(path, JSON_PATCH, '[')).status, 400);
  });

  test('merge patch: objects are merged, null deletes, lists are replaced', async (api) => {
    const { path } = await createNode(api, {
      metadata: { name: uniqueName('merge'), labels: { a: '1', b: '2' } },
    }).then(({ made }) => ({ path: `${NODES}/${made.metadata.name}` }));
    await api.patch(path, MERGE_PATCH, { spec: { taints: [{ key: 'p', effect: 'NoSchedule' }] } });
    const { body } = await api.patch(path, MERGE_PATCH, {
      metadata: { labels: { a: null, c: '3' } },
      spec: { taints: [{ key: 'q', effect: 'NoSchedule' }] },
    });
    assert.deepEqual(body.metadata.labels, { b: '2', c: '3' });
    assert.deepEqual(body.spec.taints, [{ key: 'q', effect: 'NoSchedule' }]);
  });

  test('a patch with an older resourceVersion is 409, without one it goes through', async (api) => {
    const { path, made } = await createNode(api);
    await api.patch(path, MERGE_PATCH, { metadata: { labels: { n: '1' } } });
    const { resourceVersion } = made.metadata;
    const stale = await api.patch(path, MERGE_PATCH, { metadata: { resourceVersion, labels: { n: '2' } } });
    assert.equal(stale.status, 409);
    assert.equal(stale.body.reason, 'Conflict');
    assert.equal((await api.patch(path, MERGE_PATCH, { metadata: { labels: { n: '2' } } })).status, 200);
  });

  test('a patch of what is not there is 404; of another name 400; of another uid refused', async (api) => {
    assert.equal((await api.patch(`${NODES}/nobody`, MERGE_PATCH, {})).status, 404);
    const { path } = await createNode(api);
    assert.equal((await api.patch(path, MERGE_PATCH, { metadata: { name: 'other' } })).status, 400);
    assert.ok((await api.patch(path, MERGE_PATCH, { metadata: { uid: 'other' } })).status >= 400);
  });

  test('a patch of an unknown type is 415, of no JSON 400', async (api) => {
    const { path } = await createNode(api);
    const type = await api.patch(path, 'application/unknown', {});
    assert.equal(type.status, 415);
    assert.equal(type.body.reason, 'UnsupportedMediaType');
    assert.equal((await api.patch(path, MERGE_PATCH, '{')).status, 400);
    assert.equal((await api.patch(path, MERGE_PATCH, [])).status, 400);
  });

  test('a patch may be answered with PartialObjectMetadata', async (api) => {
    const { path } = await createNode(api);
    const headers = { accept: 'application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1' };
    const { body } = await api.patch(path, MERGE_PATCH, { metadata: { labels: { z: '1' } } }, { headers });
    assert.equal(body.kind, 'PartialObjectMetadata');
    assert.equal(body.metadata.labels.z, '1');
    assert.equal(body.spec, undefined);
  });

  test('strategic merge: addresses are merged by type, so that a second one of a type is lost', async (api) => {
    const { path } = await createNode(api, { status: { addresses: [address('InternalIP', '10.0.0.1')] } });
    const status = `${path}/status`;
    const added = await api.patch(status, STRATEGIC_PATCH, { status: { addresses: [address('Hostname', 'h')] } });
    assert.deepEqual(added.body.status.addresses, [address('Hostname', 'h'), address('InternalIP', '10.0.0.1')]);
    const two = await api.patch(status, STRATEGIC_PATCH, {
      status: { addresses: [address('InternalIP', '10.0.0.2'), address('InternalIP', '10.0.0.3')] },
    });
    assert.deepEqual(two.body.status.addresses, [address('Hostname', 'h'), address('InternalIP', '10.0.0.3')]);
  });

  test('strategic merge: $patch deletes one element, or replaces the list', async (api) => {
    const addresses = [address('InternalIP', '10.0.0.1'), address('Hostname', 'h')];
    const { path } = await createNode(api, { status: { addresses } });
    const status = `${path}/status`;
    const deleted = await api.patch(status, STRATEGIC_PATCH, {
      status: { addresses: [{ $patch: 'delete', type: 'Hostname' }] },
    });
    assert.deepEqual(deleted.body.status.addresses, [address('InternalIP', '10.0.0.1')]);
    const whole = [address('InternalIP', '10.0.0.8'), address('InternalIP', '10.0.0.9')];
    const replaced = await api.patch(status, STRATEGIC_PATCH, {
      status: { addresses: [...whole, { $patch: 'replace' }] },
    });
    assert.deepEqual(replaced.body.status.addresses, whole);
  });

  test('strategic merge: conditions are merged by type, taints are replaced whole', async (api) => {
    const condition = (type: string, value: string): object => ({ type, status: value, reason: 'r', message: 'm' });
    const { path } = await createNode(api, {
      spec: { taints: [{ key: 'a', effect: 'NoSchedule' }] },
      status: { conditions: [condition('Ready', 'False'), condition('MemoryPressure', 'False')] },
    });
    const patched = await api.patch(`${path}/status`, STRATEGIC_PATCH, {
      status: { conditions: [condition('NetworkUnavailable', 'True'), condition('Ready', 'True')] },
    });
    const states = Object.fromEntries(patched.body.status.conditions.map((entry: Json) => [entry.type, entry.status]));
    assert.deepEqual(states, { NetworkUnavailable: 'True', Ready: 'True', MemoryPressure: 'False' });
    const tainted = await api.patch(path, STRATEGIC_PATCH, { spec: { taints: [{ key: 'b', effect: 'NoSchedule' }] } });
    assert.deepEqual(tainted.body.spec.taints, [{ key: 'b', effect: 'NoSchedule' }]);
  });

  test('strategic merge: $setElementOrder orders, $deleteFromPrimitiveList removes, $retainKeys keeps', async (api) => {
    const { path } = await createNode(api, {
      metadata: { name: uniqueName('smp'), finalizers: ['a.example/x', 'b.example/x', 'c.example/x'] },
      status: { addresses: [address('InternalIP', '10.0.0.1'), address('Hostname', 'h')] },
    }).then(({ made }) => ({ path: `${NODES}/${made.metadata.name}` }));
    const removed = await api.patch(path, STRATEGIC_PATCH, {
      metadata: { '$deleteFromPrimitiveList/finalizers': ['b.example/x'] },
    });
    assert.deepEqual(removed.body.metadata.finalizers, ['a.example/x', 'c.example/x']);
    const merged = await api.patch(path, STRATEGIC_PATCH, { metadata: { finalizers: ['d.example/x'] } });
    assert.deepEqual([...(merged.body.metadata.finalizers as string[])].sort(), [
      'a.example/x',
      'c.example/x',
      'd.example/x',
    ]);
    const ordered = await api.patch(`${path}/status`, STRATEGIC_PATCH, {
      status: {
        '$setElementOrder/addresses': [{ type: 'Hostname' }, { type: 'InternalIP' }],
        addresses: [address('InternalIP', '10.0.0.7')],
      },
    });
    assert.deepEqual(ordered.body.status.addresses, [address('Hostname', 'h'), address('InternalIP', '10.0.0.7')]);
    await api.patch(path, MERGE_PATCH, { metadata: { finalizers: null } });
  });

  test('strategic merge: service ports by port, ingress whole', async (api) => {
    const name = uniqueName('svc');
    const ports = [
      { name: 'http', port: 80 },
      { name: 'https', port: 443 },
    ];
    await api.post(SERVICES, { metadata: { name }, spec: { type: 'LoadBalancer', ports } });
    const path = `${SERVICES}/${name}`;
    const { body } = await api.patch(path, STRATEGIC_PATCH, { spec: { ports: [{ port: 443, targetPort: 8443 }] } });
    const targets = Object.fromEntries(body.spec.ports.map((port: Json) => [port.name, port.targetPort]));
    assert.deepEqual(targets, { http: 80, https: 8443 });
    const ingress = (...ips: string[]): Json => ({ status: { loadBalancer: { ingress: ips.map((ip) => ({ ip })) } } });
    await api.patch(`${path}/status`, STRATEGIC_PATCH, ingress('192.0.2.1', '192.0.2.2'));
    const replaced = await api.patch(`${path}/status`, STRATEGIC_PATCH, ingress('192.0.2.3'));
    assert.deepEqual(
      replaced.body.status.loadBalancer.ingress.map((point: Json) => point.ip),
      ['192.0.2.3'],
    );
  });

  test('strategic merge: an element without its merge key is refused', async (api) => {
    const { path } = await createNode(api, { status: { addresses: [address('InternalIP', '10.0.0.1')] } });
    const { status } = await api.patch(`${path}/status`, STRATEGIC_PATCH, {
      status: { addresses: [{ address: 'x' }] },
    });
    assert.ok(status >= 400);
  });

  test('ten writers that each patch their own key lose nothing', async (api) => {
    const name = uniqueName('race');
    await api.post(CONFIG_MAPS, { metadata: { name }, data: {} });
    const keys = Array.from({ length: 10 }, (_, i) => `k${i}`);
    const answers = await Promise.all(
      keys.map((key) => api.patch(`${CONFIG_MAPS}/${name}`, MERGE_PATCH, { data: { [key]: key } })),
    );
    assert.deepEqual([...new Set(answers.map(({ status }) => status))], [200]);
    const { body } = await api.get(`${CONFIG_MAPS}/${name}`);
    assert.deepEqual(Object.keys(body.data).sort(), keys);
  });
}
