/** Lists: selectors, pages, resource versions, small answers. */
import assert from 'node:assert/strict';
import { uniqueName, type ApiCaller, type Json } from './api-caller.ts';
import { CONFIG_MAPS, NODES, type ContractTest } from './contract-test.ts';

const namesOf = (list: Json): string[] => list.items.map((item: Json) => item.metadata.name);

const select = (selector: string): string => `labelSelector=${encodeURIComponent(selector)}`;

/** ConfigMaps `<group>-a`, `<group>-b` … in a namespace of their own, which is returned. */
async function createSeries(api: ApiCaller, letters: string): Promise<string> {
  const namespace = uniqueName('list');
  await api.post('/api/v1/namespaces', { metadata: { name: namespace } });
  for (const letter of letters) {
    await api.post(`/api/v1/namespaces/${namespace}/configmaps`, {
      metadata: { name: letter, labels: { letter, ...(letter < 'c' ? { early: '' } : {}) } },
    });
  }
  return namespace;
}

export function listTests(test: ContractTest): void {
  test('a list has the kind with List, a resourceVersion, and items without kind', async (api) => {
    const namespace = await createSeries(api, 'ba');
    const { body } = await api.get(`/api/v1/namespaces/${namespace}/configmaps`);
    assert.equal(body.kind, 'ConfigMapList');
    assert.equal(body.apiVersion, 'v1');
    assert.match(body.metadata.resourceVersion, /^[1-9]\d*$/);
    assert.deepEqual(namesOf(body), ['a', 'b'], 'in the order of their keys');
    assert.equal(body.items[0].kind, undefined);
  });

  test('an empty list has an empty list of items', async (api) => {
    const namespace = await createSeries(api, '');
    const { body } = await api.get(`/api/v1/namespaces/${namespace}/configmaps`);
    assert.deepEqual(body.items, []);
  });

  test('label selectors: equality, inequality, sets, existence', async (api) => {
    const namespace = await createSeries(api, 'abcd');
    const list = async (selector: string): Promise<string> => {
      const { status, body } = await api.get(`/api/v1/namespaces/${namespace}/configmaps?${select(selector)}`);
      assert.equal(status, 200, selector);
      return namesOf(body).join('');
    };
    assert.equal(await list('letter=a'), 'a');
    assert.equal(await list('letter==a'), 'a');
    assert.equal(await list('letter!=a'), 'bcd');
    assert.equal(await list('letter in (a,c)'), 'ac');
    assert.equal(await list('letter notin (a, c),early'), 'b');
    assert.equal(await list('early'), 'ab');
    assert.equal(await list('!early'), 'cd');
    assert.equal(await list('early='), 'ab');
    assert.equal(await list('nosuch!=x'), 'abcd');
    assert.equal(await list(''), 'abcd');
  });

  test('a label selector that cannot be parsed is 400', async (api) => {
    for (const selector of ['a===b', 'a in b', 'a in (b', '=b', 'a,,b']) {
      const { status, body } = await api.get(`${CONFIG_MAPS}?${select(selector)}`);
      assert.equal(status, 400, selector);
      assert.equal(body.reason, 'BadRequest');
    }
  });

  test('field selectors: name, namespace, inequality; an unknown field is 400', async (api) => {
    const namespace = await createSeries(api, 'abc');
    const path = `/api/v1/namespaces/${namespace}/configmaps`;
    assert.deepEqual(namesOf((await api.get(`${path}?fieldSelector=metadata.name%3Db`)).body), ['b']);
    assert.deepEqual(namesOf((await api.get(`${path}?fieldSelector=metadata.name!%3Db`)).body), ['a', 'c']);
    const all = await api.get(`/api/v1/configmaps?fieldSelector=metadata.namespace%3D${namespace}`);
    assert.equal(all.body.items.length, 3);
    const unknown = await api.get(`${path}?fieldSelector=spec.nothing%3Db`);
    assert.equal(unknown.status, 400);
    assert.match(unknown.body.message, /spec\.nothing/);
  });

  test('nodes can be selected by spec.unschedulable, services by spec.type, events by their object', async (api) => {
    const name = uniqueName('fields');
    await api.post(NODES, { metadata: { name, labels: { test: name } }, spec: { unschedulable: true } });
    await api.post(NODES, { metadata: { name: `${name}-2`, labels: { test: name } } });
    const off = await api.get(`${NODES}?${select(`test=${name}`)}&fieldSelector=spec.unschedulable%3Dtrue`);
    assert.deepEqual(namesOf(off.body), [name]);
    const on = await api.get(`${NODES}?${select(`test=${name}`)}&fieldSelector=spec.unschedulable%3Dfalse`);
    assert.deepEqual(namesOf(on.body), [`${name}-2`]);
    await api.post('/api/v1/namespaces/default/services', {
      metadata: { name: uniqueName('svc'), labels: { test: name } },
      spec: { type: 'NodePort', ports: [{ port: 80 }] },
    });
    const services = await api.get(`/api/v1/services?${select(`test=${name}`)}&fieldSelector=spec.type%3DNodePort`);
    assert.equal(services.body.items.length, 1);
    await api.post('/api/v1/namespaces/default/events', {
      metadata: { name },
      involvedObject: { kind: 'Node', name },
      reason: 'Tested',
      message: 'm',
      type: 'Warning',
    });
    const fields = `fieldSelector=involvedObject.kind%3DNode,involvedObject.name%3D${name},type%3DWarning`;
    assert.deepEqual(namesOf((await api.get(`/api/v1/events?${fields}`)).body), [name]);
  });

  test('pages: limit, continue, remainingItemCount, one resourceVersion for all of them', async (api) => {
    const namespace = await createSeries(api, 'abcde');
    const path = `/api/v1/namespaces/${namespace}/configmaps`;
    const first = (await api.get(`${path}?limit=2`)).body;
    assert.deepEqual(namesOf(first), ['a', 'b']);
    assert.equal(first.metadata.remainingItemCount, 3);
    await api.post(path, { metadata: { name: 'aa' } });
    await api.delete(`${path}/d`);
    await api.post(path, { metadata: { name: 'f' } });
    const second = (await api.get(`${path}?limit=2&continue=${first.metadata.continue}`)).body;
    assert.deepEqual(namesOf(second), ['c', 'd'], 'as it was when the first page was read');
    assert.equal(second.metadata.resourceVersion, first.metadata.resourceVersion);
    const third = (await api.get(`${path}?limit=2&continue=${second.metadata.continue}`)).body;
    assert.deepEqual(namesOf(third), ['e']);
    assert.equal(third.metadata.continue, undefined);
    assert.equal(third.metadata.remainingItemCount, undefined);
  });

  test('a page with a selector does not tell how many remain', async (api) => {
    const namespace = await createSeries(api, 'abc');
    const { body } = await api.get(`/api/v1/namespaces/${namespace}/configmaps?limit=1&${select('letter')}`);
    assert.ok(body.metadata.continue);
    assert.equal(body.metadata.remainingItemCount, undefined);
  });

  test('a continue token that is none, or with a resourceVersion, is 400', async (api) => {
    assert.equal((await api.get(`${CONFIG_MAPS}?limit=1&continue=abc`)).status, 400);
    const { body } = await api.get('/api/v1/namespaces?limit=1');
    const both = await api.get(`/api/v1/namespaces?limit=1&continue=${body.metadata.continue}&resourceVersion=5`);
    assert.equal(both.status, 400);
  });

  test('a continue token from before a compaction is 410 Expired, with a token to go on inconsistently', async (api) => {
    const namespace = await createSeries(api, 'abc');
    const path = `/api/v1/namespaces/${namespace}/configmaps`;
    const first = (await api.get(`${path}?limit=1`)).body;
    await api.delete(`${path}/b`);
    await api.subject.compact();
    const gone = await api.get(`${path}?limit=1&continue=${first.metadata.continue}`);
    assert.equal(gone.status, 410);
    assert.equal(gone.body.reason, 'Expired');
    assert.ok(gone.body.metadata.continue);
    const rest = await api.get(`${path}?continue=${gone.body.metadata.continue}`);
    assert.deepEqual(namesOf(rest.body), ['c']);
  });

  test('an exact list from before a compaction is 410 Expired', async (api) => {
    const namespace = await createSeries(api, 'ab');
    const path = `/api/v1/namespaces/${namespace}/configmaps`;
    const { resourceVersion } = (await api.get(path)).body.metadata;
    await api.delete(`${path}/b`);
    await api.subject.compact();
    const { status, body } = await api.get(`${path}?resourceVersion=${resourceVersion}&resourceVersionMatch=Exact`);
    assert.equal(status, 410);
    assert.equal(body.reason, 'Expired');
  });

  test('resourceVersion=0 and a version that was reached are served, with Exact as it was then', async (api) => {
    const namespace = await createSeries(api, 'ab');
    const path = `/api/v1/namespaces/${namespace}/configmaps`;
    const before = (await api.get(path)).body.metadata.resourceVersion;
    await api.delete(`${path}/a`);
    assert.equal((await api.get(`${path}?resourceVersion=0`)).status, 200);
    const newer = await api.get(`${path}?resourceVersion=${before}&resourceVersionMatch=NotOlderThan`);
    assert.ok(Number(newer.body.metadata.resourceVersion) >= Number(before));
    const exact = await api.get(`${path}?resourceVersion=${before}&resourceVersionMatch=Exact`);
    assert.deepEqual(namesOf(exact.body), ['a', 'b']);
    assert.equal(exact.body.metadata.resourceVersion, before);
  });

  test('a resourceVersion that was not reached is 504 Timeout, "Too large resource version"', async (api) => {
    const { status, body } = await api.get(`${CONFIG_MAPS}?resourceVersion=99999999`);
    assert.equal(status, 504);
    assert.equal(body.reason, 'Timeout');
    assert.match(body.message, /Too large resource version: 99999999/);
    assert.equal(body.details.causes[0].reason, 'ResourceVersionTooLarge');
    assert.equal(body.details.retryAfterSeconds, 1);
  });

  test('list options that make no sense together are refused', async (api) => {
    assert.equal((await api.get(`${CONFIG_MAPS}?resourceVersion=abc`)).status, 400);
    assert.equal((await api.get(`${CONFIG_MAPS}?limit=x`)).status, 400);
    assert.equal((await api.get(`${CONFIG_MAPS}?resourceVersionMatch=Exact`)).status, 422);
    assert.equal((await api.get(`${CONFIG_MAPS}?resourceVersion=0&resourceVersionMatch=Exact`)).status, 422);
  });

  test('a list of more than a megabyte comes whole', async (api) => {
    const namespace = await createSeries(api, '');
    const path = `/api/v1/namespaces/${namespace}/configmaps`;
    const big = 'x'.repeat(100_000);
    for (let i = 0; i < 15; i++) await api.post(path, { metadata: { name: `m${i}` }, data: { big } });
    const { body } = await api.get(path);
    assert.equal(body.items.length, 15);
    assert.ok(body.items.every((item: Json) => item.data.big === big));
  });

  test('resourceVersion=0 with a limit, and a version with a limit', async (api) => {
    const namespace = await createSeries(api, 'abc');
    const path = `/api/v1/namespaces/${namespace}/configmaps`;
    const { resourceVersion } = (await api.get(path)).body.metadata;
    await api.delete(`${path}/a`);
    const exact = await api.get(`${path}?limit=2&resourceVersion=${resourceVersion}&resourceVersionMatch=Exact`);
    assert.deepEqual(namesOf(exact.body), ['a', 'b']);
    const rest = await api.get(`${path}?limit=2&continue=${exact.body.metadata.continue}`);
    assert.deepEqual(namesOf(rest.body), ['c']);
    assert.equal((await api.get(`${path}?limit=2&resourceVersion=0`)).status, 200);
  });

  test('PartialObjectMetadata: get and list answer metadata alone', async (api) => {
    const namespace = await createSeries(api, 'a');
    const path = `/api/v1/namespaces/${namespace}/configmaps`;
    const as = (kind: string): { headers: Record<string, string> } => ({
      headers: { accept: `application/json;as=${kind};g=meta.k8s.io;v=v1` },
    });
    const one = (await api.get(`${path}/a`, as('PartialObjectMetadata'))).body;
    assert.equal(one.kind, 'PartialObjectMetadata');
    assert.equal(one.apiVersion, 'meta.k8s.io/v1');
    assert.equal(one.metadata.name, 'a');
    assert.deepEqual(Object.keys(one).sort(), ['apiVersion', 'kind', 'metadata']);
    const list = (await api.get(path, as('PartialObjectMetadataList'))).body;
    assert.equal(list.kind, 'PartialObjectMetadataList');
    assert.deepEqual(namesOf(list), ['a']);
  });

  test('a media type that cannot be served is 406, one after another is tried', async (api) => {
    const text = await api.get(CONFIG_MAPS, { headers: { accept: 'text/plain' } });
    assert.equal(text.status, 406);
    const both = await api.get(CONFIG_MAPS, { headers: { accept: 'text/plain,application/json' } });
    assert.equal(both.status, 200);
  });
}
