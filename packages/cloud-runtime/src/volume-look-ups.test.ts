import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CloudError, isCloudError, type VolumeRef, type VolumeResult } from '@outrigger/cloud-provider';
import { silentLogger } from '@outrigger/kube';
import { FakeClock } from '@outrigger/testing';
import { createVolumeLookUps, type VolumeLookUps } from './volume-look-ups.ts';

const volumeOf = (name: string): VolumeRef => ({ name, uid: `uid-${name}`, source: 'cinder', handle: name });
const found: VolumeResult = { kind: 'found', labels: { zone: 'a' } };

interface Asked {
  readonly names: readonly string[];
  readonly answer: (results: unknown) => void;
  readonly fail: (error: unknown) => void;
}

function rig(): { lookUps: VolumeLookUps; asked: Asked[]; clock: FakeClock; end: AbortController } {
  const asked: Asked[] = [];
  const clock = new FakeClock();
  const end = new AbortController();
  const lookUps = createVolumeLookUps({
    volumes: {
      batchSize: 2,
      lookUp: (volumes) =>
        new Promise((resolve, reject) => {
          const answer = resolve as (results: unknown) => void;
          asked.push({ names: volumes.map(({ name }) => name), answer, fail: reject });
        }),
    },
    callContext: ({ priority, signal }) => ({
      priority,
      signal,
      logger: silentLogger,
      call: (_operation, send) => send(signal),
    }),
    clock,
    priority: 'normal',
    callTimeoutMs: 1_000,
    signal: end.signal,
  });
  return { lookUps, asked, clock, end };
}

test('what is asked while a call is in flight travels together in the next, up to the batch size', async () => {
  const { asked, clock, lookUps } = rig();
  const names = ['a', 'b', 'c', 'd', 'e'];
  const results = Promise.all(names.map((name) => lookUps.lookUp(volumeOf(name))));
  await clock.advance(0);
  assert.deepEqual(
    asked.map(({ names }) => names),
    [['a', 'b']],
  );
  asked[0]?.answer([found, { kind: 'unknown' }]);
  await clock.advance(0);
  assert.deepEqual(asked[1]?.names, ['c', 'd']);
  asked[1]?.answer([found, found]);
  await clock.advance(0);
  asked[2]?.answer([found]);
  assert.deepEqual(
    (await results).map(({ kind }) => kind),
    ['found', 'unknown', 'found', 'found', 'found'],
  );
  const later = lookUps.lookUp(volumeOf('f'));
  await clock.advance(0);
  asked[3]?.answer([found]);
  assert.deepEqual(await later, found);
});

test('a call that fails, breaks the contract, or never ends is a failure of its volumes alone', async () => {
  const { asked, clock, lookUps } = rig();
  const codeOf = async (settle: (asked: Asked) => void): Promise<string> => {
    const result = lookUps.lookUp(volumeOf('v'));
    await clock.advance(0);
    settle(asked.at(-1) as Asked);
    await clock.advance(1_000);
    const answer = await result;
    assert.ok(answer.kind === 'failed');
    return isCloudError(answer.error) ? answer.error.code : answer.error.message;
  };
  assert.equal(await codeOf(({ fail }) => fail('text')), 'text');
  assert.equal(await codeOf(({ answer }) => answer([])), 'invalid');
  assert.equal(await codeOf(({ answer }) => answer(undefined)), 'invalid');
  assert.equal(await codeOf(({ answer }) => answer([{ kind: 'found', labels: { zone: 1 } }])), 'invalid');
  assert.equal(await codeOf(({ answer }) => answer([{ kind: 'gone' }])), 'invalid');
  assert.equal(await codeOf(() => {}), 'timeout');
});

test('the end tells those who wait', async () => {
  const { asked, clock, end, lookUps } = rig();
  const first = lookUps.lookUp(volumeOf('a'));
  await clock.advance(0);
  const second = lookUps.lookUp(volumeOf('b'));
  end.abort();
  assert.deepEqual([(await first).kind, (await second).kind, asked.length], ['failed', 'failed', 1]);
});

test('who waits no longer is answered at once, and the cloud is asked nothing more for it', async () => {
  const { asked, clock, lookUps } = rig();
  const leaving = new AbortController();
  const inFlight = lookUps.lookUp(volumeOf('in-flight'), leaving.signal);
  await clock.advance(0);
  const gone = Array.from({ length: 100 }, (_, i) => lookUps.lookUp(volumeOf(`gone-${i}`), leaving.signal));
  const stays = lookUps.lookUp(volumeOf('stays'), new AbortController().signal);
  leaving.abort(new CloudError('timeout', 'the review is over'));
  for (const result of await Promise.all([inFlight, ...gone, lookUps.lookUp(volumeOf('late'), leaving.signal)])) {
    assert.ok(result.kind === 'failed' && result.error === leaving.signal.reason);
  }
  asked[0]?.answer([found]);
  await clock.advance(0);
  assert.deepEqual(
    asked.map(({ names }) => names),
    [['in-flight'], ['stays']],
  );
  asked[1]?.answer([found]);
  assert.deepEqual(await stays, found);
});

test('beyond a bound of volumes that wait, the next one is refused at once', async () => {
  const { clock, end, lookUps } = rig();
  const waiting = [lookUps.lookUp(volumeOf('in-flight'))];
  await clock.advance(0);
  for (let i = 0; i < 10_000; i++) waiting.push(lookUps.lookUp(volumeOf(`v-${i}`)));
  const refused = lookUps.lookUp(volumeOf('one-more'));
  await clock.advance(0);
  end.abort();
  const result = await refused;
  assert.ok(result.kind === 'failed' && isCloudError(result.error, 'throttled'));
  assert.match(result.error.message, /10000 volumes wait/u);
  await Promise.all(waiting);
});

test('a volume whose texts are longer than any in a cloud is refused, and the cloud is not asked about it', async () => {
  const { asked, clock, lookUps } = rig();
  const long = 'x'.repeat(100_000);
  for (const field of ['handle', 'driver', 'name', 'uid', 'source']) {
    const answer = lookUps.lookUp({ ...volumeOf('v'), [field]: long });
    await clock.advance(0);
    assert.equal(asked.length, 0);
    const result = await answer;
    assert.ok(result.kind === 'failed' && isCloudError(result.error, 'invalid'));
    assert.equal(result.error.message, `the volume's ${field} is too long: shorten it to at most 1024 characters`);
  }
  const longest = lookUps.lookUp({ ...volumeOf('v'), handle: 'x'.repeat(1_024) });
  await clock.advance(0);
  asked[0]?.answer([found]);
  assert.deepEqual(await longest, found);
});
