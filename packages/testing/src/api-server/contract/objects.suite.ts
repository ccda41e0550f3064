/** Create, read, update, delete: what holds for objects of every kind. */
import assert from 'node:assert/strict';
import { uniqueName, MERGE_PATCH } from './api-caller.ts';
import { CONFIG_MAPS, LEASES, NODES, type ContractTest } from './contract-test.ts';

export function objectTests(test: ContractTest): void {
  test('a created object gets uid, resourceVersion and creationTimestamp, and reads back the same', async (api) => {
    const name = uniqueName('made');
    const made = await api.post(CONFIG_MAPS, { metadata: { name }, data: { a: 'b' } });
    assert.equal(made.status, 201);
    assert.equal(made.body.kind, 'ConfigMap');
    assert.equal(made.body.apiVersion, 'v1');
    assert.match(made.body.metadata.uid, /^[0-9a-f-]{36}$/);
    assert.match(made.body.metadata.resourceVersion, /^[1-9]\d*$/);
    assert.match(made.body.metadata.creationTimestamp, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
    assert.equal(made.body.metadata.namespace, 'default');
    const read = await api.get(`${CONFIG_MAPS}/${name}`);
    assert.equal(read.status, 200);
    assert.deepEqual(read.body, made.body);
  });

  test('a client cannot choose uid or creationTimestamp', async (api) => {
    const name = uniqueName('forged');
    const metadata = { name, uid: 'mine', creationTimestamp: '2001-01-01T00:00:00Z' };
    const { body } = await api.post(CONFIG_MAPS, { metadata });
    assert.notEqual(body.metadata.uid, 'mine');
    assert.notEqual(body.metadata.creationTimestamp, '2001-01-01T00:00:00Z');
  });

  test('creating what exists is 409 AlreadyExists and names it', async (api) => {
    const name = uniqueName('twice');
    await api.post(CONFIG_MAPS, { metadata: { name } });
    const { status, body } = await api.post(CONFIG_MAPS, { metadata: { name } });
    assert.equal(status, 409);
    assert.equal(body.kind, 'Status');
    assert.equal(body.status, 'Failure');
    assert.equal(body.reason, 'AlreadyExists');
    assert.equal(body.code, 409);
    assert.equal(body.message, `configmaps "${name}" already exists`);
    assert.deepEqual(body.details, { name, kind: 'configmaps' });
  });

  test('reading what is not there is 404 NotFound and names it, with the group where there is one', async (api) => {
    const node = await api.get(`${NODES}/nobody`);
    assert.equal(node.status, 404);
    assert.equal(node.body.reason, 'NotFound');
    assert.equal(node.body.message, 'nodes "nobody" not found');
    const lease = await api.get(`${LEASES}/nobody`);
    assert.equal(lease.body.message, 'leases.coordination.k8s.io "nobody" not found');
    assert.deepEqual(lease.body.details, { name: 'nobody', group: 'coordination.k8s.io', kind: 'leases' });
  });

  test('generateName makes names that differ', async (api) => {
    const [a, b] = await Promise.all([
      api.post(CONFIG_MAPS, { metadata: { generateName: 'gen-' } }),
      api.post(CONFIG_MAPS, { metadata: { generateName: 'gen-' } }),
    ]);
    assert.match(a.body.metadata.name, /^gen-[a-z0-9]{5}$/);
    assert.notEqual(a.body.metadata.name, b.body.metadata.name);
    assert.equal(a.body.metadata.generateName, 'gen-');
  });

  test('an object without a name is 422 with the field', async (api) => {
    const { status, body } = await api.post(NODES, { metadata: {} });
    assert.equal(status, 422);
    assert.equal(body.reason, 'Invalid');
    assert.equal(body.details.causes[0].field, 'metadata.name');
    assert.equal(body.details.causes[0].reason, 'FieldValueRequired');
  });

  test('a name, label key and label value against the syntax are 422, each with its field', async (api) => {
    const { status, body } = await api.post(NODES, { metadata: { name: 'N_1', labels: { 'a b': 'c d' } } });
    assert.equal(status, 422);
    const fields = body.details.causes.map((cause: { field: string }) => cause.field);
    assert.deepEqual(fields, ['metadata.name', 'metadata.labels', 'metadata.labels']);
    assert.equal(body.details.kind, 'Node');
  });

  test('an object in a namespace that does not exist is 404 for the namespace', async (api) => {
    const { status, body } = await api.post('/api/v1/namespaces/no-such/configmaps', { metadata: { name: 'x' } });
    assert.equal(status, 404);
    assert.equal(body.message, 'namespaces "no-such" not found');
  });

  test('a body whose namespace or name differs from the path is 400', async (api) => {
    const name = uniqueName('place');
    await api.post(CONFIG_MAPS, { metadata: { name } });
    const namespace = await api.post(CONFIG_MAPS, { metadata: { name: 'x', namespace: 'kube-system' } });
    assert.equal(namespace.status, 400);
    const renamed = await api.put(`${CONFIG_MAPS}/${name}`, { metadata: { name: 'other' } });
    assert.equal(renamed.status, 400);
    assert.match(renamed.body.message, /does not match the name on the URL/);
  });

  test('a body of another kind, no JSON, or a type that is not known is refused', async (api) => {
    const kind = await api.post(CONFIG_MAPS, { kind: 'Secret', apiVersion: 'v1', metadata: { name: 'x' } });
    assert.equal(kind.status, 400);
    const json = await api.post(CONFIG_MAPS, '{');
    assert.equal(json.status, 400);
    assert.equal(json.body.reason, 'BadRequest');
  });

  test('an update with the current resourceVersion goes through, with an older one is 409 Conflict', async (api) => {
    const name = uniqueName('update');
    const { body: first } = await api.post(CONFIG_MAPS, { metadata: { name }, data: { n: '1' } });
    const second = await api.put(`${CONFIG_MAPS}/${name}`, { ...first, data: { n: '2' } });
    assert.equal(second.status, 200);
    assert.ok(Number(second.body.metadata.resourceVersion) > Number(first.metadata.resourceVersion));
    assert.equal(second.body.metadata.uid, first.metadata.uid);
    const stale = await api.put(`${CONFIG_MAPS}/${name}`, { ...first, data: { n: '3' } });
    assert.equal(stale.status, 409);
    assert.equal(stale.body.reason, 'Conflict');
    assert.match(stale.body.message, /the object has been modified/);
    assert.equal((await api.get(`${CONFIG_MAPS}/${name}`)).body.data.n, '2');
  });

  test('an update without resourceVersion is unconditional', async (api) => {
    const name = uniqueName('blind');
    await api.post(CONFIG_MAPS, { metadata: { name }, data: { n: '1' } });
    const { status, body } = await api.put(`${CONFIG_MAPS}/${name}`, { metadata: { name }, data: { n: '2' } });
    assert.equal(status, 200);
    assert.equal(body.data.n, '2');
  });

  test('an update that changes nothing keeps the resourceVersion', async (api) => {
    const name = uniqueName('same');
    const { body } = await api.post(CONFIG_MAPS, { metadata: { name }, data: { n: '1' } });
    const again = await api.put(`${CONFIG_MAPS}/${name}`, body);
    assert.equal(again.body.metadata.resourceVersion, body.metadata.resourceVersion);
  });

  test('an update with another uid is 409', async (api) => {
    const name = uniqueName('uid');
    await api.post(CONFIG_MAPS, { metadata: { name } });
    const { status, body } = await api.put(`${CONFIG_MAPS}/${name}`, { metadata: { name, uid: 'another' } });
    assert.equal(status, 409);
    assert.match(body.message, /UID in precondition: another/);
  });

  test('an update of a node that is not there is 404; of a lease, it creates', async (api) => {
    const name = uniqueName('absent');
    assert.equal((await api.put(`${NODES}/${name}`, { metadata: { name } })).status, 404);
    const lease = await api.put(`${LEASES}/${name}`, { metadata: { name }, spec: {} });
    assert.equal(lease.status, 201);
  });

  test('an update of a lease needs a resourceVersion', async (api) => {
    const name = uniqueName('lease');
    await api.post(LEASES, { metadata: { name }, spec: { holderIdentity: 'a' } });
    const { status, body } = await api.put(`${LEASES}/${name}`, { metadata: { name }, spec: { holderIdentity: 'b' } });
    assert.equal(status, 422);
    assert.equal(body.details.causes[0].field, 'metadata.resourceVersion');
  });

  test('a resourceVersion on create is refused', async (api) => {
    const { status } = await api.post(CONFIG_MAPS, { metadata: { name: uniqueName('rv'), resourceVersion: '1' } });
    assert.ok(status >= 400);
  });

  test('a deletion answers a Status with the uid, and the object is gone', async (api) => {
    const name = uniqueName('gone');
    const { body: made } = await api.post(CONFIG_MAPS, { metadata: { name } });
    const { status, body } = await api.delete(`${CONFIG_MAPS}/${name}`);
    assert.equal(status, 200);
    assert.equal(body.status, 'Success');
    assert.deepEqual(body.details, { name, kind: 'configmaps', uid: made.metadata.uid });
    assert.equal((await api.get(`${CONFIG_MAPS}/${name}`)).status, 404);
    assert.equal((await api.delete(`${CONFIG_MAPS}/${name}`)).status, 404);
  });

  test('a deletion with a uid or resourceVersion that does not match is 409 and deletes nothing', async (api) => {
    const name = uniqueName('guarded');
    const { body } = await api.post(NODES, { metadata: { name } });
    const uid = await api.delete(`${NODES}/${name}`, { preconditions: { uid: 'another' } });
    assert.equal(uid.status, 409);
    assert.equal(uid.body.reason, 'Conflict');
    const version = await api.delete(`${NODES}/${name}`, { preconditions: { resourceVersion: '1' } });
    assert.equal(version.status, 409);
    const { uid: realUid, resourceVersion } = body.metadata;
    const match = await api.delete(`${NODES}/${name}`, { preconditions: { uid: realUid, resourceVersion } });
    assert.equal(match.status, 200);
  });

  test('finalizers keep a deleted object, marked, until the last of them is removed', async (api) => {
    const name = uniqueName('kept');
    const path = `${NODES}/${name}`;
    await api.post(NODES, { metadata: { name, finalizers: ['a.example/x', 'b.example/y'] } });
    const deleted = await api.delete(path);
    assert.equal(deleted.status, 200);
    assert.equal(deleted.body.kind, 'Node');
    assert.match(deleted.body.metadata.deletionTimestamp, /Z$/);
    assert.equal(deleted.body.metadata.deletionGracePeriodSeconds, 0);
    const again = await api.delete(path);
    assert.equal(again.status, 200);
    assert.equal(again.body.metadata.resourceVersion, deleted.body.metadata.resourceVersion);
    const one = await api.patch(path, MERGE_PATCH, { metadata: { finalizers: ['b.example/y'] } });
    assert.deepEqual(one.body.metadata.finalizers, ['b.example/y']);
    assert.equal((await api.get(path)).status, 200);
    const none = await api.patch(path, MERGE_PATCH, { metadata: { finalizers: null } });
    assert.equal(none.status, 200);
    assert.equal((await api.get(path)).status, 404);
  });

  test('an object that is being deleted takes no new finalizer, and its deletionTimestamp cannot be taken away', async (api) => {
    const name = uniqueName('doomed');
    const path = `${NODES}/${name}`;
    await api.post(NODES, { metadata: { name, finalizers: ['a.example/x'] } });
    const { body } = await api.delete(path);
    const more = await api.patch(path, MERGE_PATCH, { metadata: { finalizers: ['a.example/x', 'b.example/y'] } });
    assert.equal(more.status, 422);
    assert.match(more.body.message, /no new finalizers can be added/);
    const { deletionTimestamp, ...metadata } = body.metadata;
    const update = await api.put(path, { ...body, metadata });
    assert.equal(update.body.metadata.deletionTimestamp, deletionTimestamp);
    await api.patch(path, MERGE_PATCH, { metadata: { finalizers: null } });
  });

  test('a finalizer without a domain is 422', async (api) => {
    const { status, body } = await api.post(NODES, { metadata: { name: uniqueName('fin'), finalizers: ['bare'] } });
    assert.equal(status, 422);
    assert.equal(body.details.causes[0].field, 'metadata.finalizers[0]');
  });

  test('a foreground deletion leaves the object to the garbage collector', async (api) => {
    const name = uniqueName('front');
    await api.post(CONFIG_MAPS, { metadata: { name } });
    const { body } = await api.delete(`${CONFIG_MAPS}/${name}`, { propagationPolicy: 'Foreground' });
    assert.deepEqual(body.metadata.finalizers, ['foregroundDeletion']);
    assert.ok(body.metadata.deletionTimestamp);
    await api.patch(`${CONFIG_MAPS}/${name}`, MERGE_PATCH, { metadata: { finalizers: null } });
  });

  test('deletecollection deletes what the selector selects and answers with the list', async (api) => {
    const group = uniqueName('group');
    for (const keep of ['no', 'no', 'yes']) {
      await api.post(CONFIG_MAPS, { metadata: { generateName: 'coll-', labels: { group, keep } } });
    }
    const { status, body } = await api.delete(`${CONFIG_MAPS}?labelSelector=group%3D${group},keep%3Dno`);
    assert.equal(status, 200);
    assert.equal(body.kind, 'ConfigMapList');
    assert.equal(body.items.length, 2);
    const left = await api.get(`${CONFIG_MAPS}?labelSelector=group%3D${group}`);
    assert.deepEqual(
      left.body.items.map((item: { metadata: { labels: object } }) => item.metadata.labels),
      [{ group, keep: 'yes' }],
    );
  });

  test('a dry run answers as the write would, and writes nothing', async (api) => {
    const name = uniqueName('dry');
    const created = await api.post(`${CONFIG_MAPS}?dryRun=All`, { metadata: { name }, data: { a: 'b' } });
    assert.equal(created.status, 201);
    assert.ok(created.body.metadata.uid);
    assert.equal((await api.get(`${CONFIG_MAPS}/${name}`)).status, 404);
    const { body } = await api.post(CONFIG_MAPS, { metadata: { name }, data: { a: 'b' } });
    const patched = await api.patch(`${CONFIG_MAPS}/${name}?dryRun=All`, MERGE_PATCH, { data: { a: 'c' } });
    assert.equal(patched.body.data.a, 'c');
    assert.equal((await api.delete(`${CONFIG_MAPS}/${name}?dryRun=All`)).status, 200);
    assert.deepEqual((await api.get(`${CONFIG_MAPS}/${name}`)).body, body);
    const wrong = await api.post(`${CONFIG_MAPS}?dryRun=Some`, { metadata: { name: 'x' } });
    assert.equal(wrong.status, 422);
  });

  test('of many writers with one version, one wins', async (api) => {
    const name = uniqueName('race');
    const { body } = await api.post(CONFIG_MAPS, { metadata: { name }, data: {} });
    const answers = await Promise.all(
      Array.from({ length: 10 }, (_, i) => api.put(`${CONFIG_MAPS}/${name}`, { ...body, data: { winner: String(i) } })),
    );
    const won = answers.filter(({ status }) => status === 200);
    assert.equal(won.length, 1);
    assert.ok(answers.every(({ status }) => status === 200 || status === 409));
    assert.equal((await api.get(`${CONFIG_MAPS}/${name}`)).body.data.winner, won[0]!.body.data.winner);
  });

  test('of many creators of one name, one wins', async (api) => {
    const name = uniqueName('race');
    const answers = await Promise.all(
      Array.from({ length: 10 }, () => api.post(LEASES, { metadata: { name }, spec: { holderIdentity: 'x' } })),
    );
    assert.equal(answers.filter(({ status }) => status === 201).length, 1);
    assert.equal(answers.filter(({ status }) => status === 409).length, 9);
  });

  test('an update by PUT that takes the last finalizer off a deleted object ends it', async (api) => {
    const name = uniqueName('put');
    await api.post(NODES, { metadata: { name, finalizers: ['a.example/x'] } });
    const { body } = await api.delete(`${NODES}/${name}`);
    const { finalizers: _finalizers, ...metadata } = body.metadata;
    assert.equal((await api.put(`${NODES}/${name}`, { ...body, metadata })).status, 200);
    assert.equal((await api.get(`${NODES}/${name}`)).status, 404);
  });

  test('a uid precondition in a patch holds', async (api) => {
    const name = uniqueName('again');
    const first = await api.post(CONFIG_MAPS, { metadata: { name } });
    await api.delete(`${CONFIG_MAPS}/${name}`);
    await api.post(CONFIG_MAPS, { metadata: { name } });
    const { uid } = first.body.metadata;
    const { status } = await api.patch(`${CONFIG_MAPS}/${name}`, MERGE_PATCH, { metadata: { uid }, data: { a: 'b' } });
    assert.ok(status === 409 || status === 422, String(status));
    assert.equal((await api.get(`${CONFIG_MAPS}/${name}`)).body.data, undefined);
  });

  test('empty labels, annotations and finalizers are as none', async (api) => {
    const name = uniqueName('empty');
    const metadata = { name, labels: {}, annotations: {}, finalizers: [] };
    const { body } = await api.post(CONFIG_MAPS, { metadata });
    for (const field of ['labels', 'annotations', 'finalizers']) {
      assert.ok(!(field in body.metadata), `${field} is not written`);
    }
  });
}
