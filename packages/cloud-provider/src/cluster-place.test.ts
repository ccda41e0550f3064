import { strict as assert } from 'node:assert';
import { test } from 'node:test';
import { ClusterPlace, isCloudError, type CallContext, type ClusterPlaceOptions } from './index.ts';

const errors: string[] = [];
const signal = new AbortController().signal;
const logger = { error: (message: string) => errors.push(message) } as unknown as CallContext['logger'];
const call: CallContext = { signal, priority: 'normal', logger, call: (_operation, send) => send(signal) };
const unknown = (error: unknown): boolean => isCloudError(error, 'configuration');

function placeOf(options: Partial<ClusterPlaceOptions> = {}): ClusterPlace {
  return new ClusterPlace({ what: 'account', machine: 'server', setBy: 'account in cloud.json', ...options });
}

const machine = (id: string, isRemembered = false): Parameters<ClusterPlace['machineGone']>[0] => ({
  id,
  proof: `GET /servers/${id}: 404.`,
  remembers: () => Promise.resolve(isRemembered),
});
const part = (id: string, isEarly = false): Parameters<ClusterPlace['partGone']>[0] => ({
  kind: 'load-balancer',
  id,
  proof: `GET /lb/${id}: 404`,
  isEarly,
});

test('without a witness a 404 proves nothing, and a person is told once', async () => {
  const place = placeOf();
  place.admit('account 1');
  await assert.rejects(place.machineGone(machine('a'), call), /No server of this cluster .* this account yet/);
  await assert.rejects(place.machineGone(machine('a'), call), unknown);
  await assert.rejects(place.partGone(part('lb'), call), unknown);
  assert.deepEqual(errors.splice(0), ['A server is not here, and no other of this cluster: is this its account?']);
  await assert.rejects(place.partGone(part('lb', true), call), (error) => isCloudError(error, 'retry-after'));
});

test('a machine that has the ID of a node is a witness for all', async () => {
  const place = placeOf();
  place.sawById();
  assert.equal((await place.machineGone(machine('b'), call)).proof, 'GET /servers/b: 404.');
  assert.equal((await place.partGone(part('lb'), call)).kind, 'absent');
});

test('what was seen by the name of a node, and a part, are witnesses for themselves alone', async () => {
  const place = placeOf();
  place.sawByName('a');
  place.sawPart('lb');
  assert.equal((await place.machineGone(machine('a'), call)).kind, 'absent');
  assert.equal((await place.partGone(part('lb'), call)).kind, 'absent');
  await assert.rejects(place.machineGone(machine('b'), call), unknown);
  await assert.rejects(place.partGone(part('other'), call), unknown);
});

test('what the cloud remembers is a witness for all', async () => {
  const place = placeOf();
  assert.equal((await place.machineGone(machine('a', true), call)).wasHere, true);
  assert.equal((await place.machineGone(machine('b'), call)).kind, 'absent');
});

test('another place than before is refused, unless the first is in doubt, whose witnesses do not count then', async () => {
  const place = placeOf();
  place.admit('account 1');
  place.admit('account 1');
  assert.throws(
    () => place.admit('account 2'),
    /leads to account 2, and this cluster is in account 1.*account in cloud\.json/,
  );
  place.sawByName('a');
  assert.ok(place.doubt());
  place.admit('account 2');
  assert.equal(place.place, 'account 2');
  await assert.rejects(place.machineGone(machine('a'), call), unknown);
  place.sawById();
  assert.ok(!place.doubt());
  assert.throws(() => place.admit('account 1'), unknown);
});

test('a cloud is asked once which place it is, before a 404 is judged, and again where it could not say', async () => {
  let asked = 0;
  let isDown = true;
  const place = placeOf({
    ask: async () => {
      asked++;
      if (isDown) throw new Error('down');
      return 'account 7';
    },
  });
  place.sawById();
  await assert.rejects(place.machineGone(machine('a'), call), /down/);
  isDown = false;
  const both = await Promise.all([place.machineGone(machine('a'), call), place.partGone(part('lb'), call)]);
  assert.deepEqual([both.map(({ kind }) => kind), asked, place.place], [['absent', 'absent'], 2, 'account 7']);
  assert.equal(await place.learn(call), 'account 7');
  assert.equal(asked, 2);
});

test('other credentials are asked where they lead before a 404 counts again, and what was seen before any place was known does not count', async () => {
  let leadsTo = 'account 1';
  let asked = 0;
  const place = placeOf({ ask: () => Promise.resolve((asked++, leadsTo)) });
  place.sawById();
  place.sawPart('lb');
  leadsTo = 'account 2';
  place.reconfigured();
  await assert.rejects(place.machineGone(machine('a'), call), unknown);
  await assert.rejects(place.partGone(part('lb'), call), unknown);
  errors.length = 0;
  place.sawById();
  assert.equal((await place.machineGone(machine('a'), call)).kind, 'absent');
  leadsTo = 'account 1';
  place.reconfigured();
  asked = 0;
  const refused = await Promise.allSettled(['a', 'b', 'c'].map((id) => place.machineGone(machine(id), call)));
  for (const { reason } of refused as PromiseRejectedResult[])
    assert.match(String(reason), /leads to account 1, and this cluster is in account 2/);
  assert.equal(asked, 1);
  leadsTo = 'account 2';
  assert.equal((await place.machineGone(machine('a'), call)).kind, 'absent');
});

test('an answer about the place of credentials that are no longer in use says nothing', async () => {
  const asked: PromiseWithResolvers<string>[] = [];
  const place = placeOf({
    ask: () => {
      asked.push(Promise.withResolvers());
      return asked.at(-1)!.promise;
    },
  });
  const known = place.learn(call);
  place.reconfigured();
  asked[0]?.resolve('account 1');
  await new Promise<void>((resolve) => void setImmediate(resolve));
  asked[1]?.resolve('account 2');
  assert.deepEqual([await known, asked.length], ['account 2', 2]);
});

test('what a place remembers is no witness for another, to which the cloud config leads meanwhile', async () => {
  const place = placeOf();
  place.admit('account 1');
  place.doubt();
  const remembered = Promise.withResolvers<boolean>();
  const gone = place.machineGone({ ...machine('a'), remembers: () => remembered.promise }, call);
  await Promise.resolve();
  place.admit('account 2');
  remembered.resolve(true);
  await assert.rejects(gone, unknown);
  await assert.rejects(place.machineGone(machine('b'), call), unknown);
});
