/** Watches: where they begin, what they say, how they end. */
import assert from 'node:assert/strict';
import { uniqueName, MERGE_PATCH, type ApiCaller, type WatchLine } from './api-caller.ts';
import { CONFIG_MAPS, NODES, type ContractTest } from './contract-test.ts';

const MAPS = 'configmaps';
const WATCH_LIST = 'sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true';

async function createNamespace(api: ApiCaller): Promise<{ path: string; version: string }> {
  const name = uniqueName('watch');
  await api.post('/api/v1/namespaces', { metadata: { name } });
  const path = `/api/v1/namespaces/${name}/${MAPS}`;
  const { body } = await api.get(path);
  return { path, version: body.metadata.resourceVersion };
}

const brief = (line: WatchLine): string => `${line.type} ${line.object.metadata.name}`;

export function watchTests(test: ContractTest): void {
  test('a watch from a version tells every later change in order, each with its own version', async (api) => {
    const { path, version } = await createNamespace(api);
    await api.post(path, { metadata: { name: 'a' } });
    await api.patch(`${path}/a`, MERGE_PATCH, { data: { k: 'v' } });
    await api.delete(`${path}/a`);
    const lines = await api.firstLines(`${path}?watch=1&resourceVersion=${version}&timeoutSeconds=60`, 3);
    assert.deepEqual(lines.map(brief), ['ADDED a', 'MODIFIED a', 'DELETED a']);
    const versions = lines.map((line) => Number(line.object.metadata.resourceVersion));
    assert.ok(versions[0]! < versions[1]! && versions[1]! < versions[2]!);
    assert.equal(lines[0]!.object.kind, 'ConfigMap');
    assert.equal(lines[2]!.object.data.k, 'v', 'a deletion tells the last state');
  });

  test('a watch that is open is told of changes as they are made', async (api) => {
    const { path, version } = await createNamespace(api);
    const lines = api.watch(`${path}?watch=true&resourceVersion=${version}&timeoutSeconds=60`);
    const first = lines.next();
    await api.post(path, { metadata: { name: 'later' } });
    assert.equal(brief((await first).value), 'ADDED later');
    await lines.return(undefined);
  });

  test('a watch without a version begins with what is there', async (api) => {
    const { path } = await createNamespace(api);
    await api.post(path, { metadata: { name: 'a' } });
    await api.post(path, { metadata: { name: 'b' } });
    for (const version of ['', '&resourceVersion=0']) {
      const lines = await api.firstLines(`${path}?watch=1&timeoutSeconds=60${version}`, 2);
      assert.deepEqual(lines.map(brief).sort(), ['ADDED a', 'ADDED b']);
    }
  });

  test('a watch ends after its timeoutSeconds, properly', async (api) => {
    const { path, version } = await createNamespace(api);
    const lines = await api.firstLines(`${path}?watch=1&resourceVersion=${version}&timeoutSeconds=1`, 99);
    assert.deepEqual(lines, []);
  });

  test('through a selector, objects that come into view are ADDED and those that leave are DELETED', async (api) => {
    const { path, version } = await createNamespace(api);
    await api.post(path, { metadata: { name: 'a' } });
    await api.patch(`${path}/a`, MERGE_PATCH, { metadata: { labels: { seen: 'yes' } } });
    await api.patch(`${path}/a`, MERGE_PATCH, { data: { k: 'v' } });
    const out = await api.patch(`${path}/a`, MERGE_PATCH, { metadata: { labels: { seen: 'no' } } });
    await api.patch(`${path}/a`, MERGE_PATCH, { data: { k: 'w' } });
    await api.delete(`${path}/a`);
    await api.post(path, { metadata: { name: 'end', labels: { seen: 'yes' } } });
    const query = `watch=1&resourceVersion=${version}&timeoutSeconds=60&labelSelector=seen%3Dyes`;
    const lines = await api.firstLines(`${path}?${query}`, 4);
    assert.deepEqual(lines.map(brief), ['ADDED a', 'MODIFIED a', 'DELETED a', 'ADDED end']);
    assert.equal(lines[2]!.object.metadata.labels.seen, 'yes', 'the last state that was in view');
    assert.equal(lines[2]!.object.metadata.resourceVersion, out.body.metadata.resourceVersion);
  });

  test('a watch by field selector sees one object only', async (api) => {
    const { path, version } = await createNamespace(api);
    await api.post(path, { metadata: { name: 'a' } });
    await api.post(path, { metadata: { name: 'b' } });
    await api.delete(`${path}/a`);
    await api.delete(`${path}/b`);
    const query = `watch=1&resourceVersion=${version}&timeoutSeconds=60&fieldSelector=metadata.name%3Db`;
    const lines = await api.firstLines(`${path}?${query}`, 2);
    assert.deepEqual(lines.map(brief), ['ADDED b', 'DELETED b']);
  });

  test('one object by its path is read, not watched, whatever the query says', async (api) => {
    const { path } = await createNamespace(api);
    await api.post(path, { metadata: { name: 'b' } });
    const { status, body } = await api.get(`${path}/b?watch=1&timeoutSeconds=1`);
    assert.equal(status, 200);
    assert.equal(body.kind, 'ConfigMap');
  });

  test('a watch from a version that was not reached waits for it', async (api) => {
    const { path, version } = await createNamespace(api);
    await api.post(path, { metadata: { name: 'before' } });
    const far = Number(version) + 1_000_000;
    const lines = await api.firstLines(`${path}?watch=1&resourceVersion=${far}&timeoutSeconds=1`, 9);
    assert.deepEqual(lines, []);
  });

  test('removing the last finalizer of a deleted object is DELETED, not MODIFIED', async (api) => {
    const { path, version } = await createNamespace(api);
    await api.post(path, { metadata: { name: 'a', finalizers: ['x.example/y'] } });
    await api.delete(`${path}/a`);
    await api.patch(`${path}/a`, MERGE_PATCH, { metadata: { finalizers: null } });
    const lines = await api.firstLines(`${path}?watch=1&resourceVersion=${version}&timeoutSeconds=60`, 3);
    assert.deepEqual(lines.map(brief), ['ADDED a', 'MODIFIED a', 'DELETED a']);
    assert.ok(lines[1]!.object.metadata.deletionTimestamp);
  });

  test('an update that changes nothing makes no event', async (api) => {
    const { path, version } = await createNamespace(api);
    const { body } = await api.post(path, { metadata: { name: 'a' } });
    await api.put(`${path}/a`, body);
    await api.patch(`${path}/a`, MERGE_PATCH, {});
    await api.delete(`${path}/a`);
    const lines = await api.firstLines(`${path}?watch=1&resourceVersion=${version}&timeoutSeconds=60`, 2);
    assert.deepEqual(lines.map(brief), ['ADDED a', 'DELETED a']);
  });

  test('WatchList: all objects, then a marked bookmark with the version, then changes', async (api) => {
    const { path } = await createNamespace(api);
    await api.post(path, { metadata: { name: 'a' } });
    await api.post(path, { metadata: { name: 'b' } });
    const lines = api.watch(`${path}?watch=1&${WATCH_LIST}&timeoutSeconds=60`);
    const seen: WatchLine[] = [];
    for (let i = 0; i < 3; i++) seen.push((await lines.next()).value);
    assert.deepEqual(seen.slice(0, 2).map(brief).sort(), ['ADDED a', 'ADDED b']);
    const mark = seen[2]!;
    assert.equal(mark.type, 'BOOKMARK');
    assert.equal(mark.object.kind, 'ConfigMap');
    assert.equal(mark.object.metadata.annotations['k8s.io/initial-events-end'], 'true');
    assert.ok(Number(mark.object.metadata.resourceVersion) >= Number(seen[1]!.object.metadata.resourceVersion));
    await api.delete(`${path}/a`);
    assert.equal(brief((await lines.next()).value), 'DELETED a');
    await lines.return(undefined);
  });

  test('WatchList of nothing is the bookmark alone', async (api) => {
    const { path } = await createNamespace(api);
    const [line] = await api.firstLines(`${path}?watch=1&${WATCH_LIST}&timeoutSeconds=60`, 1);
    assert.equal(line!.type, 'BOOKMARK');
  });

  test('WatchList options that make no sense together are 422', async (api) => {
    const options = [
      'sendInitialEvents=true',
      'resourceVersionMatch=NotOlderThan',
      'sendInitialEvents=true&resourceVersionMatch=Exact',
    ];
    for (const option of options) {
      const { status, body } = await api.get(`${CONFIG_MAPS}?watch=1&timeoutSeconds=1&${option}`);
      assert.equal(status, 422, option);
      assert.equal(body.details.causes[0].field, 'resourceVersionMatch', option);
    }
  });

  test('a watch as PartialObjectMetadata sends metadata alone, bookmarks too', async (api) => {
    const { path } = await createNamespace(api);
    await api.post(path, { metadata: { name: 'a' }, data: { k: 'v' } });
    const headers = { accept: 'application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1' };
    const lines = await api.firstLines(`${path}?watch=1&${WATCH_LIST}&timeoutSeconds=60`, 2, { headers });
    assert.deepEqual(
      lines.map((line) => line.type),
      ['ADDED', 'BOOKMARK'],
    );
    for (const line of lines) {
      assert.equal(line.object.kind, 'PartialObjectMetadata');
      assert.equal(line.object.data, undefined);
    }
  });

  test('a watch as Table sends rows; column definitions once', async (api) => {
    const { path } = await createNamespace(api);
    await api.post(path, { metadata: { name: 'a' } });
    await api.post(path, { metadata: { name: 'b' } });
    const headers = { accept: 'application/json;as=Table;g=meta.k8s.io;v=v1' };
    const lines = await api.firstLines(`${path}?watch=1&timeoutSeconds=60`, 2, { headers });
    assert.deepEqual(
      lines.map((line) => line.object.kind),
      ['Table', 'Table'],
    );
    assert.deepEqual(
      lines.map((line) => line.object.rows[0].cells[0]),
      ['a', 'b'],
    );
    assert.ok(lines[0]!.object.columnDefinitions.length > 0);
    assert.ok(!lines[1]!.object.columnDefinitions?.length);
  });

  test('a watch from before a compaction is told 410 Expired in an ERROR event', async (api) => {
    const { path, version } = await createNamespace(api);
    await api.post(path, { metadata: { name: 'a' } });
    await api.subject.compact();
    const [line] = await api.firstLines(`${path}?watch=1&resourceVersion=${version}&timeoutSeconds=60`, 1);
    assert.equal(line!.type, 'ERROR');
    assert.equal(line!.object.kind, 'Status');
    assert.equal(line!.object.code, 410);
    assert.equal(line!.object.reason, 'Expired');
  });

  test('a hundred watches of one kind are all told of every change', async (api) => {
    const { path, version } = await createNamespace(api);
    const watches = Array.from({ length: 100 }, () =>
      api.firstLines(`${path}?watch=1&resourceVersion=${version}&timeoutSeconds=60`, 20),
    );
    for (let i = 0; i < 20; i++) await api.post(path, { metadata: { name: `m${i}` } });
    const expected = Array.from({ length: 20 }, (_, i) => `ADDED m${i}`);
    for (const lines of await Promise.all(watches)) assert.deepEqual(lines.map(brief), expected);
  });

  test('changes of status are events of the object', async (api) => {
    const name = uniqueName('node');
    const { body } = await api.post(NODES, { metadata: { name } });
    await api.patch(`${NODES}/${name}/status`, MERGE_PATCH, {
      status: { addresses: [{ type: 'InternalIP', address: '10.0.0.9' }] },
    });
    const query = `watch=1&resourceVersion=${body.metadata.resourceVersion}&timeoutSeconds=60&fieldSelector=metadata.name%3D${name}`;
    const [line] = await api.firstLines(`${NODES}?${query}`, 1);
    assert.equal(line!.type, 'MODIFIED');
    assert.equal(line!.object.status.addresses[0].address, '10.0.0.9');
  });
}
