/** What deleted Services leave behind in this process, also where a tenant has written what is believed of them. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CloudError, loadBalancerOwnerAnnotation } from '@outrigger/cloud-provider';
import { silentLogger, type Logger, type Service } from '@outrigger/kube';
import { KnownParts } from '../load-balancer/known-parts.ts';
import { giveUp, leftoverOf, MOST_LEFTOVERS, MOST_UNPROVED, MOST_UNPROVED_OF_ONE, surplusOf } from './leftovers.ts';
import { createRig, nodeOf, webSpec, type Rig } from './rig.suite.ts';
import { stateOf, type ServiceState } from './service-state.ts';
import { cleanupFinalizer, missingSinceAnnotation, partsAnnotation, releaseAnnotation } from './well-known-names.ts';

const OPTIONS = { options: { providerName: 'memory' }, startedAt: 0 };
const CLUSTER_IP = { ...webSpec, type: 'ClusterIP' } as const;
const PADDING = 'x'.repeat(200_000);

function forgedMetadata(record = 'foo/bar'): NonNullable<Service['metadata']> {
  const annotations = { [loadBalancerOwnerAnnotation]: 'memory', [partsAnnotation]: record, padding: PADDING };
  return { finalizers: [cleanupFinalizer], annotations };
}

function forceAway(rig: Rig, name: string): string {
  const { namespace = '', uid = '' } = rig.api.get(name)?.metadata ?? {};
  rig.api.delete(name);
  rig.api.services.remove(`${namespace}/${name}`);
  return uid;
}

async function forge(rig: Rig, names: readonly string[]): Promise<readonly string[]> {
  for (const name of names) rig.api.apply(name, CLUSTER_IP, forgedMetadata());
  await rig.clock.advance(10);
  return names.map((name) => forceAway(rig, name));
}

const keptOf = (rig: Rig, uids: readonly string[]): number => uids.filter((uid) => rig.explain(uid)).length;

test('10,000 forged deletions in one namespace leave a bounded number of states, and take away none whose parts were seen', async () => {
  const rig = await createRig();
  const lines: string[] = [];
  const logger: Logger = {
    ...silentLogger,
    warn: (message) => void lines.push(message),
    with: () => logger,
  };
  rig.api.nodes.put(nodeOf('n1'));
  for (const name of ['theirs', 'late']) rig.api.namespaces.set(name, 'other');
  for (const name of ['mine', 'theirs', 'late']) rig.api.apply(name, webSpec);
  await rig.start({}, { logger });
  await rig.clock.advance(0);
  let refuses = true;
  rig.provider.before = ({ kind }) => {
    if (refuses && kind === 'delete') throw new CloudError('unavailable', '503');
  };
  const honest = [forceAway(rig, 'mine'), forceAway(rig, 'theirs')];
  const forged: string[] = [];
  for (let i = 0; i < 20; i++) {
    forged.push(
      ...(await forge(
        rig,
        Array.from({ length: 500 }, (_, n) => `f${i}-${n}`),
      )),
    );
    if (i === 10) honest.push(forceAway(rig, 'late'));
    assert.ok(keptOf(rig, forged) <= MOST_UNPROVED_OF_ONE, `${keptOf(rig, forged)} are kept`);
  }
  assert.equal(keptOf(rig, honest), 3);
  refuses = false;
  await rig.clock.advance(400_000);
  assert.deepEqual(rig.cloud.parts(), []);
  // Nothing is asked about a kind that the cloud does not have for ever.
  await rig.clock.advance(1_200_000);
  assert.equal(keptOf(rig, [...forged, ...honest]), 0);
  const givenUp = lines.filter((line) => line.includes('is given up'));
  assert.equal(givenUp.length, 10_000, 'one line for each');
  await rig.stop();
});

test('what a record names and the cloud cannot be asked about is asked about a few times, and of a Service of which it has shown something for a day', async () => {
  const rig = await createRig();
  rig.api.nodes.put(nodeOf('n1'));
  rig.api.apply('web', webSpec);
  await rig.start();
  await rig.clock.advance(0);
  await rig.stop();
  const { metadata } = rig.api.get('web') ?? {};
  const record = `${metadata?.annotations?.[partsAnnotation] ?? ''} foo/bar`.trim();
  const annotations = { ...metadata?.annotations, [partsAnnotation]: record };
  rig.api.apply('web', webSpec, { ...metadata, annotations });
  await rig.start();
  await rig.clock.advance(1_000);
  const shown = forceAway(rig, 'web');
  const [forged = ''] = await forge(rig, ['forged']);
  await rig.clock.advance(200_000);
  assert.equal(keptOf(rig, [shown, forged]), 2, 'once is no proof');
  await rig.clock.advance(2_000_000);
  assert.deepEqual([keptOf(rig, [shown]), keptOf(rig, [forged])], [1, 0]);
  await rig.clock.advance(24 * 3_600_000);
  assert.equal(keptOf(rig, [shown]), 0, 'nor for ever');
  await rig.stop();
});

test('an outage of the cloud is none of the tries after which what a record names is given up', async () => {
  const rig = await createRig();
  await rig.start();
  let isDown = true;
  rig.provider.observing = () => {
    if (isDown) throw new CloudError('unavailable', '503');
  };
  const forged = await forge(rig, ['forged']);
  await rig.clock.advance(3_600_000);
  isDown = false;
  await rig.clock.advance(310_000);
  assert.ok(rig.provider.asked.includes('foo bar'), 'it was asked about');
  assert.equal(keptOf(rig, forged), 1, 'once is no proof');
  await rig.clock.advance(2_000_000);
  assert.equal(keptOf(rig, forged), 0);
  await rig.stop();
});

test('what a record alone names, and the cloud says nothing of but refusals, is asked about for a day; what was seen, and in an outage, for longer', async () => {
  const rig = await createRig();
  rig.api.nodes.put(nodeOf('n1'));
  rig.api.apply('web', webSpec);
  await rig.start();
  await rig.clock.advance(1_000);
  rig.cloud.setFaults([{ operation: 'GET /parts', effect: 'empty' }]);
  const answers: Readonly<Record<string, Error>> = {
    refused: new CloudError('forbidden', '403'),
    torn: new CloudError('conflict', '409'),
    misled: new CloudError('configuration', 'another project'),
    broken: new TypeError('x is not iterable'),
    down: new CloudError('unavailable', '503'),
    slow: new CloudError('timeout', 'no answer'),
    busy: new CloudError('throttled', '429'),
    locked: new CloudError('unauthenticated', '401'),
    early: new CloudError('retry-after', 'soon', { retryAfterMs: 60_000 }),
  };
  const askedFor: string[] = [];
  rig.provider.read = async (parts) => {
    await rig.clock.sleep(1);
    askedFor.push(...parts.map(({ owner }) => owner.uid));
    return parts.map(({ kind }) => ({ kind: 'failed', error: answers[kind] ?? new CloudError('forbidden', '403') }));
  };
  const seen = forceAway(rig, 'web');
  const forged: Record<string, string> = {};
  for (const kind of Object.keys(answers)) {
    rig.api.apply(kind, CLUSTER_IP, forgedMetadata(`${kind}/bar`));
    await rig.clock.advance(10);
    forged[kind] = forceAway(rig, kind);
  }
  const kept = (): readonly string[] => Object.keys(forged).filter((kind) => rig.explain(forged[kind] ?? ''));
  for (let hour = 0; hour < 12; hour++) await rig.clock.advance(3_600_000);
  assert.deepEqual(kept(), Object.keys(answers));
  for (let hour = 0; hour < 24; hour++) await rig.clock.advance(3_600_000);
  assert.deepEqual(kept(), ['down', 'slow', 'busy', 'locked', 'early']);
  assert.ok(askedFor.filter((uid) => uid === seen).length > 300);
  assert.equal(keptOf(rig, [seen]), 1);
  await rig.stop();
});

const READ = [{ name: 'read', description: '', values: 'string', maxLength: 1_000 }] as const;

test('of a Service that is gone only what its clean-up needs is kept', () => {
  const { annotations } = forgedMetadata();
  const more = { read: 'r'.repeat(5_000), [releaseAnnotation]: 'true', [missingSinceAnnotation]: 'm', other: PADDING };
  const finalizers = [cleanupFinalizer, ...Array.from({ length: 500 }, (_, i) => `example.com/${i}`)];
  const ports = Array.from({ length: 900 }, (_, i) => ({ port: i + 1, protocol: 'TCP' as const }));
  const service: Service = {
    metadata: {
      name: 'web',
      namespace: 'a',
      uid: 'u',
      labels: { l: PADDING },
      deletionTimestamp: '2026-01-01T00:00:00Z',
      finalizers,
      annotations: { ...annotations, ...more },
    },
    spec: { type: 'LoadBalancer', ports, selector: { app: PADDING }, externalIPs: Array(1_000).fill('192.0.2.1') },
    status: { loadBalancer: { ingress: [{ ip: '192.0.2.1' }] } },
  };
  const before: ServiceState = { ...stateOf(undefined, service, OPTIONS), wish: PADDING, failures: 9 };
  const left = leftoverOf(before, service, READ);
  assert.deepEqual(left.leftover?.metadata?.annotations, {
    [loadBalancerOwnerAnnotation]: 'memory',
    [releaseAnnotation]: 'true',
    [missingSinceAnnotation]: 'm',
    read: 'r'.repeat(1_000),
  });
  const { name, namespace, uid } = left.leftover?.metadata ?? {};
  assert.deepEqual([name, namespace, uid, left.uid, left.failures], ['web', 'a', 'u', 'u', 0]);
  assert.deepEqual(left.leftover?.status, service.status);
  assert.deepEqual(left.knowledge.parts.words, ['foo bar']);
  assert.ok(JSON.stringify(left).length < 20_000, `${JSON.stringify(left).length} characters`);
});

test('a long record that nothing else speaks for is kept as one that cannot be read; what was seen is kept as it is', () => {
  const record = Array.from({ length: 40 }, (_, i) => `foo/${i}${'x'.repeat(1_000)}`).join(' ');
  const service: Service = { metadata: { name: 'web', namespace: 'a', uid: 'u', ...forgedMetadata(record) } };
  const state = stateOf(undefined, service, OPTIONS);
  assert.equal(state.knowledge.parts.words.length, 40);
  const { parts } = leftoverOf(state, service, []).knowledge;
  assert.deepEqual([parts.words, parts.mayHave('any', 'anything')], [[], true]);
  const seen = { ...state, knowledge: { ...state.knowledge, isProved: true } };
  assert.equal(leftoverOf(seen, service, []).knowledge.parts.words.length, 40);
});

interface Kind {
  readonly namespace?: string;
  readonly isProved?: boolean;
  readonly failures?: number;
}

const empty = stateOf(undefined, {}, OPTIONS);

function stateFor({ failures = 0, isProved = false, namespace = 'a' }: Kind): ServiceState {
  const knowledge = { ...empty.knowledge, parts: new KnownParts(true), isProved };
  return { ...empty, knowledge, failures, leftover: { metadata: { name: 'web', namespace } } };
}

function surplus(...kinds: readonly (readonly [count: number, kind: Kind])[]): string | undefined {
  const states = kinds.flatMap(([count, kind], k) =>
    Array.from({ length: count }, (_, i) => [`${k}-${i}`, stateFor(kind)] as const),
  );
  return surplusOf(new Map(states), states.at(-1)![1]);
}

test('of too many in one namespace the one that has failed for longest goes, else the newest; none that was seen goes for one that was not', () => {
  const most = MOST_UNPROVED_OF_ONE;
  assert.equal(surplus([most, {}]), undefined);
  assert.equal(surplus([3, {}], [most - 2, {}]), `1-${most - 3}`);
  assert.equal(surplus([3, {}], [5, { failures: 2 }], [most - 7, {}]), '1-0');
  assert.equal(surplus([2 * most, { isProved: true, failures: 9 }], [most, {}]), undefined);
  assert.equal(surplus([2 * most, { isProved: true, failures: 9 }], [most + 1, {}]), `1-${most}`);
  assert.equal(surplus([most, { namespace: 'b' }], [most, {}]), undefined);
});

test('of too many in all one of the namespace that has most goes, and one that was seen only where nothing else is left', () => {
  const spread = Array.from({ length: MOST_UNPROVED / 50 }, (_, i) => [50, { namespace: `n${i}` }] as const);
  assert.equal(surplus(...spread), undefined);
  assert.equal(surplus([1, { namespace: 'n7' }], ...spread, [1, {}])?.replace(/-.*/u, ''), '8', 'n7 has most');
  const seen = { isProved: true, namespace: 'b' };
  assert.equal(surplus([MOST_LEFTOVERS, seen]), undefined);
  assert.equal(surplus([MOST_LEFTOVERS, seen], [1, {}]), '1-0');
  assert.equal(surplus([MOST_LEFTOVERS, seen], [1, { isProved: true }]), `0-${MOST_LEFTOVERS - 1}`);
});

test('who is given up is counted and told of by name, and nothing of it stays', () => {
  const { effects, state } = giveUp(stateFor({}), 'surplus');
  assert.equal(state, undefined);
  const kinds = effects.map(({ kind }) => kind);
  assert.deepEqual(kinds, ['count', 'log', 'forget-lock', 'forget']);
});
