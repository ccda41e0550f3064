// Over 400 lines: one rig, and one test for each way in which a part could be leaked.
/** That a part is gone, or was never made, is proved: nothing waits for a fixed time, and nothing is leaked by lists that lie for long. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CloudError, type LoadBalancerPart, type PartAnswer } from '@outrigger/cloud-provider';
import { createMemoryProvider } from '@outrigger/provider-memory';
import { silentLogger } from '@outrigger/kube';
import { callContext, CLUSTER } from '../load-balancer/memory-provider.suite.ts';
import { createRig, nodeOf, webSpec, type Rig } from './rig.suite.ts';
import {
  actionOn,
  IDLE,
  lookAgain,
  makeLoadBalancer,
  partOf,
  READY,
  served as toldServed,
  type Told,
} from './told-cloud.suite.ts';
import { missingSinceAnnotation, partsAnnotation, releaseAnnotation } from './well-known-names.ts';

/** What a new process gives a request of the one before to take effect, and a moment for its own. */
const SECONDS_MS = 6_000;
const HOUR_MS = 3_600_000;

async function servedBy(count = 1): Promise<Rig> {
  const rig = await createRig();
  rig.api.nodes.put(nodeOf('n1'));
  for (let i = 0; i < count; i++) rig.api.apply(nameOf(i), webSpec);
  await rig.start();
  await rig.clock.advance(10_000);
  return rig;
}

const nameOf = (i: number): string => (i === 0 ? 'web' : `web-${i}`);
const hasAddress = (rig: Rig): boolean => (rig.api.get('web')?.status?.loadBalancer?.ingress ?? []).length > 0;
const isGone = (rig: Rig): boolean => !rig.api.get('web') && rig.partsOf('uid-1').length === 0;

test('a fail-over in the middle of deletions holds up none of them', async () => {
  const rig = await servedBy(20);
  let left = 30;
  rig.provider.after = () => {
    if (--left < 0) throw new CloudError('unavailable', 'the program dies');
  };
  for (let i = 0; i < 20; i++) rig.api.delete(nameOf(i));
  await rig.clock.advance(100);
  await rig.stop();
  rig.provider.after = () => {};
  assert.ok(rig.cloud.parts().length > 0, 'it died in the middle');
  await rig.start();
  await rig.clock.advance(SECONDS_MS);
  assert.deepEqual([rig.api.services.objects.size, rig.cloud.parts()], [0, []]);
  await rig.stop();
});

test('a question about parts is a read, for whose outcome no stop and no Lease waits; an action is none', async () => {
  const rig = await servedBy();
  const seen: [what: string, isForReads: boolean][] = [];
  const { provider } = rig;
  provider.observe = (services) =>
    Promise.resolve(services.map(() => ({ kind: 'parts', asOf: rig.clock.monotonic(), parts: [] })));
  provider.read = (questions, call) => {
    seen.push(['read', rig.isForReads(call)]);
    return Promise.resolve(questions.map(() => ({ kind: 'there' })));
  };
  provider.apply = (_action, _desired, call) => {
    seen.push(['apply', rig.isForReads(call)]);
    return Promise.resolve({ kind: 'done' });
  };
  rig.api.apply('other', webSpec);
  rig.api.delete('web');
  await rig.clock.advance(SECONDS_MS);
  const isForReads = (what: string): readonly boolean[] => [
    ...new Set(seen.filter(([one]) => one === what).map(([, is]) => is)),
  ];
  assert.deepEqual([isForReads('read'), isForReads('apply')], [[true], [false]]);
  await rig.stop();
});

test('deletions for two minutes end within seconds although the program is killed every 8 s', async () => {
  const COUNT = 60;
  const rig = await servedBy(COUNT);
  // A deletion takes a dozen requests: none ends within one turn of the program.
  rig.cloud.configure({ latencyMs: 500 });
  const deletedAt: number[] = [];
  const took: number[] = [];
  for (let second = 0; took.length < COUNT; second++) {
    assert.ok(second < 600, `${COUNT - took.length} are left`);
    if (second % 2 === 0 && deletedAt.length < COUNT) {
      rig.api.delete(nameOf(deletedAt.length));
      deletedAt.push(second);
    }
    await rig.clock.advance(1_000);
    const left = deletedAt.flatMap((_at, i) => (rig.api.get(nameOf(i)) ? [i] : []));
    for (const [i, at] of deletedAt.entries()) if (!left.includes(i)) took[i] ??= second + 1 - at;
    if (second % 8 !== 7 || second > 120) continue;
    // What is under way takes effect, and nobody learns of it.
    rig.provider.after = () => {
      throw new CloudError('unavailable', 'the program dies');
    };
    await rig.stop();
    rig.provider.after = () => {};
    await rig.start();
  }
  const slowest = Math.max(...took);
  assert.ok(slowest <= 12, `the slowest deletion took ${slowest} s: ${took.join()}`);
  assert.deepEqual(rig.cloud.parts(), []);
  await rig.stop();
});

test('a new process serves what the one before had begun, or had found no quota for, as soon as it can be', async () => {
  for (const code of ['unavailable', 'quota'] as const) {
    const rig = await createRig();
    rig.api.nodes.put(nodeOf('n1'));
    rig.provider.before = () => {
      throw new CloudError(code, 'not now');
    };
    rig.api.apply('web', webSpec);
    await rig.start();
    await rig.clock.advance(60_000);
    await rig.stop();
    rig.provider.before = () => {};
    await rig.start();
    await rig.clock.advance(SECONDS_MS);
    assert.ok(hasAddress(rig), code);
    await rig.stop();
  }
});

test('a Service of which nothing could be made goes at once; where the answer was lost, once it cannot come any more', async () => {
  const cases = [
    [new CloudError('quota', 'full'), 1_000],
    [new CloudError('unavailable', 'refused', { effect: 'none' }), 1_000],
    [new CloudError('unavailable', 'lost'), SECONDS_MS],
  ] as const;
  for (const [error, withinMs] of cases) {
    const rig = await createRig();
    rig.api.nodes.put(nodeOf('n1'));
    rig.provider.before = () => {
      throw error;
    };
    rig.api.apply('web', webSpec);
    await rig.start();
    await rig.clock.advance(1_000);
    rig.api.delete('web');
    await rig.clock.advance(withinMs);
    assert.ok(isGone(rig), error.message);
    const asked = error.message === 'lost' ? ['address any', 'load-balancer any', 'firewall any', 'dns any'] : [];
    assert.deepEqual(rig.provider.asked, asked);
    await rig.stop();
  }
});

test('a release that makes a new kind of part makes it in the first moments', async () => {
  const rig = await createRig();
  rig.api.nodes.put(nodeOf('n1'));
  const planOf = async (...loadBalancerParts: readonly string[]): Promise<Rig['provider']['plan']> => {
    const { loadBalancers } = await createMemoryProvider({ cloud: rig.cloud }).open({
      cluster: { id: CLUSTER, name: 'test' },
      clock: rig.clock,
      logger: silentLogger,
      config: { fileName: 'cloud.json', text: JSON.stringify({ loadBalancerParts }) },
      callContext: () => callContext(new AbortController().signal, 'background'),
      capabilitiesChanged: () => {},
      redact: () => {},
    });
    assert.ok(loadBalancers);
    return (desired, parts) => loadBalancers.plan(desired, parts);
  };
  rig.provider.plan = await planOf('address', 'load-balancer');
  rig.api.apply('web', webSpec);
  await rig.start();
  await rig.clock.advance(30_000);
  await rig.stop();
  rig.provider.plan = await planOf('address', 'load-balancer', 'firewall');
  await rig.start();
  await rig.clock.advance(SECONDS_MS);
  assert.deepEqual(
    rig.partsOf('uid-1').map(({ kind }) => kind),
    ['address', 'load-balancer', 'firewall'],
  );
  await rig.stop();
});

for (const asking of ['named', 'by-id'] as const) {
  test(`lists that are empty for an hour leak nothing, get nothing made twice, and are told of (${asking})`, async () => {
    const rig = await servedBy(2);
    if (asking === 'by-id') rig.provider.namedByOwner = [];
    rig.cloud.setFaults([{ operation: 'GET /parts', effect: 'empty' }]);
    rig.api.delete('web');
    rig.api.apply('web-1', { ...webSpec, ports: [{ port: 81, nodePort: 30_081, protocol: 'TCP' }] });
    await rig.clock.advance(HOUR_MS);
    assert.ok(rig.api.get('web'), 'the finalizer stays');
    const hidden = rig.events.find(({ reason, name }) => reason === 'LoadBalancerPartsHidden' && name === 'web');
    assert.match(
      hidden?.message ?? '',
      /The cloud does not list .*address address-.*, but a direct read shows that it exists/u,
    );
    assert.match(
      rig.planned('web')[0]?.text ?? '',
      /the cloud does not list .*, but a direct read shows that it exists/u,
    );
    rig.cloud.setFaults([]);
    await rig.clock.advance(60_000);
    assert.ok(isGone(rig));
    assert.equal(rig.partsOf('uid-2').length, 4);
    assert.ok(!rig.events.some(({ reason }) => reason === 'LoadBalancerPartsMissing'));
    await rig.stop();
  });
}

test('in the ordinary life of a Service nothing is asked, and nothing more is written', async () => {
  for (const namedByOwner of [undefined, []]) {
    const rig = await createRig();
    if (namedByOwner) rig.provider.namedByOwner = namedByOwner;
    rig.api.nodes.put(nodeOf('n1'));
    rig.api.apply('web', webSpec);
    await rig.start();
    await rig.clock.advance(10_000);
    rig.api.nodes.put(nodeOf('n2'));
    await rig.clock.advance(10_000);
    await rig.stop();
    await rig.start();
    await rig.clock.advance(10_000);
    const record = rig.api.get('web')?.metadata?.annotations?.[partsAnnotation];
    const named = 'address/address-0 dns/dns-3 firewall/firewall-2 load-balancer/load-balancer-1';
    assert.equal(record, namedByOwner && named);
    rig.api.delete('web');
    await rig.clock.advance(10_000);
    assert.ok(isGone(rig));
    assert.deepEqual([rig.provider.asked, rig.api.patches.length], [[], 3]);
    await rig.stop();
  }
});

/** A cloud that chose the IDs, and can be asked about them. */
function askable(told: Told, answer: (name: string) => PartAnswer): readonly string[] {
  const asked: string[] = [];
  told.rig.provider.read = (questions) => {
    const names = questions.map(({ id = 'any', kind }) => `${kind} ${id}`);
    asked.push(...names);
    return Promise.resolve(names.map(answer));
  };
  return asked;
}

const isIn = (parts: readonly LoadBalancerPart[]) => {
  return (name: string): PartAnswer =>
    parts.some(({ id, kind }) => `${kind} ${id}` === name) ? { kind: 'there' } : { kind: 'absent', proof: '404' };
};

test('a new process knows the IDs that the cloud chose: it asks about what it is not shown', async () => {
  const told = await toldServed('load-balancer a', 'address b');
  const { api, clock } = told.rig;
  const truth = told.parts;
  assert.equal(api.get('web')?.metadata?.annotations?.[partsAnnotation], 'address/b load-balancer/a');
  await told.rig.stop();
  told.parts = [];
  let answer = isIn(truth);
  const asked = askable(told, (name) => answer(name));
  api.delete('web');
  await told.rig.start();
  await clock.advance(HOUR_MS);
  assert.ok(api.get('web'), 'the finalizer stays while they are there');
  assert.deepEqual(asked.slice(0, 2), ['address b', 'load-balancer a']);
  answer = isIn([]);
  await clock.advance(31_000);
  assert.equal(api.get('web'), undefined);
  await told.rig.stop();
});

test('before a served Service gets another part, the record says that there may be more: a crash right after leaks nothing', async () => {
  const told = await toldServed('load-balancer a');
  const { api, clock, provider } = told.rig;
  told.serve = (parts) => (parts.length > 1 ? READY : { ...IDLE, actions: [actionOn('create', 'address')] });
  const records: unknown[] = [];
  told.apply = () => {
    records.push(api.get('web')?.metadata?.annotations?.[partsAnnotation]);
    return { kind: 'pending', handle: 'b', pollAfterMs: HOUR_MS };
  };
  await lookAgain(told);
  assert.deepEqual(records, ['load-balancer/a +']);
  await told.rig.stop();
  told.apply = ({ id }) => {
    told.parts = told.parts.filter((part) => part.id !== id);
    return { kind: 'done' };
  };
  // What was made is not shown to the new process.
  api.delete('web');
  await told.rig.start();
  await clock.advance(40_000);
  assert.ok(api.get('web'), 'the finalizer stays');
  told.parts = [partOf('address b')];
  await clock.advance(31_000);
  assert.ok(provider.applied.includes('delete address b'));
  await told.rig.stop();
});

test('a proof is about what was asked: what nobody has seen is waited for all the same', async () => {
  const told = await toldServed('load-balancer a');
  const { api, clock } = told.rig;
  await told.rig.stop();
  // As a crash amid the making of an address leaves it.
  const { metadata, ...service } = api.get('web') ?? {};
  const annotations = { ...metadata?.annotations, [partsAnnotation]: 'load-balancer/a +' };
  api.services.put({ ...service, metadata: { ...metadata, annotations } });
  told.parts = [];
  const asked = askable(told, isIn([]));
  api.delete('web');
  await told.rig.start();
  await clock.advance(80_000);
  assert.deepEqual(asked, ['load-balancer a']);
  assert.ok(api.get('web'), 'the finalizer stays while an address may be there');
  await clock.advance(20_000);
  assert.equal(api.get('web'), undefined);
  await told.rig.stop();
});

test('what was written down is written again when the Service has other parts, and goes with the finalizer', async () => {
  const told = await toldServed('load-balancer a');
  const { api, clock } = told.rig;
  told.serve = (parts) => {
    if (parts.some(({ id }) => id === 'b')) return READY;
    return { ...IDLE, actions: [actionOn('delete', 'load-balancer a'), actionOn('create', 'load-balancer')] };
  };
  told.apply = ({ kind }) => {
    told.parts = kind === 'create' ? [partOf('load-balancer b')] : [];
    return { kind: 'done', ...(kind === 'create' && { made: { kind: 'load-balancer', id: 'b' } }) };
  };
  await lookAgain(told);
  assert.equal(api.get('web')?.metadata?.annotations?.[partsAnnotation], 'load-balancer/b');
  api.apply('web', { ...webSpec, type: 'ClusterIP' });
  await clock.advance(10_000);
  assert.deepEqual(api.get('web')?.metadata?.annotations, {});
  await told.rig.stop();
});

test('what the cloud deletes by and by is asked about once it is not shown any more', async () => {
  const told = await toldServed('load-balancer a');
  const { api, clock } = told.rig;
  let answer: PartAnswer = { kind: 'there' };
  const asked = askable(told, () => answer);
  told.apply = () => {
    told.parts = [];
    return { kind: 'pending', handle: 'a', pollAfterMs: 1_000 };
  };
  api.delete('web');
  await clock.advance(20_000);
  assert.ok(api.get('web') && asked.includes('load-balancer a'), 'the finalizer stays');
  answer = { kind: 'absent', proof: '404' };
  await clock.advance(31_000);
  assert.equal(api.get('web'), undefined);
  await told.rig.stop();
});

test('what exists without an owner, and is of no concern to the Service any more, holds it up for 90 s', async () => {
  const told = await toldServed('load-balancer a');
  const { api, clock } = told.rig;
  told.parts = [];
  askable(told, () => ({ kind: 'there', isUnowned: true }));
  api.delete('web');
  await clock.advance(80_000);
  assert.ok(api.get('web'), 'the finalizer stays');
  assert.ok(told.rig.reasons('web').includes('LoadBalancerPartsMissing'));
  await clock.advance(40_000);
  assert.equal(api.get('web'), undefined);
  await told.rig.stop();
});

test('that it cannot be found out is told, and a person can let the Service go all the same', async () => {
  const told = await toldServed('load-balancer a');
  const { api, clock } = told.rig;
  told.parts = [];
  askable(told, () => ({ kind: 'failed', error: new CloudError('forbidden', 'no right to read') }));
  api.delete('web');
  await clock.advance(10_000);
  assert.match(told.rig.events.at(-1)?.message ?? '', /^Error deleting load balancer: no right to read/u);
  await clock.advance(HOUR_MS);
  assert.ok(api.get('web'), 'unknown is not absent');
  api.apply('web', webSpec, { annotations: { ...api.get('web')?.metadata?.annotations, [releaseAnnotation]: 'true' } });
  await clock.advance(10_000);
  assert.equal(api.get('web'), undefined);
  assert.match(told.rig.events.at(-1)?.message ?? '', /Last seen: load-balancer a\./u);
  await told.rig.stop();
});

test('a provider that gives too few answers, or throws, has proved nothing', async () => {
  for (const read of [() => Promise.resolve([]), () => Promise.reject(new Error('boom'))]) {
    const told = await toldServed('load-balancer a');
    told.parts = [];
    told.rig.provider.read = read;
    told.rig.api.delete('web');
    await told.rig.clock.advance(HOUR_MS);
    assert.ok(told.rig.api.get('web'));
    assert.ok(told.rig.reasons('web').includes('DeleteLoadBalancerFailed'));
    await told.rig.stop();
  }
});

test('looks that show all that was done before are believed: nothing waits, also in a new process', async () => {
  const told = await toldServed('load-balancer a', 'address b');
  const { api, clock, provider } = told.rig;
  provider.consistency = 'strong';
  told.serve = makeLoadBalancer;
  told.apply = ({ kind }) => {
    if (kind === 'create') told.parts = [...told.parts, partOf('load-balancer c')];
    return { kind: 'done' };
  };
  told.parts = [partOf('address b')];
  await lookAgain(told);
  assert.deepEqual(provider.applied, ['create load-balancer undefined']);
  await told.rig.stop();
  api.delete('web');
  told.parts = [];
  await told.rig.start();
  await clock.advance(SECONDS_MS);
  assert.equal(api.get('web'), undefined);
  await told.rig.stop();
});

test('a wait is told in an Event, and goes on in the next process where the one before left off', async () => {
  const told = await toldServed('load-balancer a');
  const { api, clock, events } = told.rig;
  told.parts = [];
  api.delete('web');
  const patches = api.patches.length;
  for (let kills = 0; kills < 2; kills++) {
    await clock.advance(8_000);
    // A new process takes over half a minute later.
    await told.rig.stop();
    assert.ok(api.get('web'), 'the finalizer stays');
    await told.rig.start();
  }
  const [first] = events.filter(({ reason }) => reason === 'LoadBalancerPartsMissing');
  assert.match(
    first?.message ?? '',
    /does not list load-balancer a, and does not prove that it does not exist.* missing from every list for 90 s/u,
  );
  assert.equal(api.patches.length, patches + 1, 'its beginning is written once');
  assert.match(api.get('web')?.metadata?.annotations?.[missingSinceAnnotation] ?? '', /Z load-balancer\/a$/u);
  await clock.advance(13_000);
  assert.equal(api.get('web'), undefined, '90 s after the first look');
  await told.rig.stop();
});

test('a wait that something put an end to is forgotten: the next one begins anew', async () => {
  const told = await toldServed('load-balancer a');
  const { api, clock } = told.rig;
  const truth = told.parts;
  told.serve = makeLoadBalancer;
  told.parts = [];
  await lookAgain(told);
  assert.ok(api.get('web')?.metadata?.annotations?.[missingSinceAnnotation]);
  told.parts = truth;
  await clock.advance(HOUR_MS);
  assert.equal(api.get('web')?.metadata?.annotations?.[missingSinceAnnotation], undefined);
  assert.deepEqual(told.rig.provider.applied, []);
  await told.rig.stop();
});

/** A new process, to which the cloud shows nothing of a Service that is served, and that has lost its last node since. */
async function waitingWithoutNodes(): Promise<Told> {
  const told = await toldServed('load-balancer a');
  const { api, clock } = told.rig;
  await told.rig.stop();
  told.parts = [];
  await told.rig.start();
  await clock.advance(1_000);
  assert.ok(api.get('web')?.metadata?.annotations?.[missingSinceAnnotation]);
  api.nodes.remove('n1');
  return told;
}

test('a wait that a look has ended is not taken up again from the Service, which says so until it is written', async () => {
  const told = await waitingWithoutNodes();
  const { api, clock } = told.rig;
  told.parts = [partOf('load-balancer a')];
  await clock.advance(25_000);
  assert.ok(api.get('web')?.metadata?.annotations?.[missingSinceAnnotation], 'it still says so');
  told.parts = [];
  api.apply('web', { ...webSpec, type: 'ClusterIP' });
  await clock.advance(85_000);
  assert.ok(api.get('web')?.metadata?.finalizers?.length, 'looks have left it out for 85 s, not for 110');
  await clock.advance(20_000);
  assert.equal(api.get('web')?.metadata?.finalizers?.length ?? 0, 0);
  await told.rig.stop();
});

test('what is waited for is looked at all the while, also without a node', async () => {
  const told = await waitingWithoutNodes();
  const { clock, provider } = told.rig;
  const observe = provider.observe.bind(provider);
  let looks = 0;
  provider.observe = (...args) => {
    looks += 1;
    return observe(...args);
  };
  await clock.advance(20_000);
  assert.ok(looks > 2, `${looks} looks`);
  await told.rig.stop();
});

test('the bookkeeping on a Service is shown to no provider, and wakes nobody', async () => {
  const told = await toldServed('load-balancer a');
  const { api, clock, provider } = told.rig;
  const observes = provider.observes;
  const seen: string[] = [];
  provider.plan = ({ service }) => {
    seen.push(...Object.keys(service.annotations));
    return READY;
  };
  const annotations = { ...api.get('web')?.metadata?.annotations, [partsAnnotation]: 'load-balancer/b' };
  api.apply('web', webSpec, { annotations });
  await clock.advance(10_000);
  assert.equal(provider.observes, observes);
  await lookAgain(told);
  assert.ok(seen.length > 0 && !seen.includes(partsAnnotation));
  await told.rig.stop();
});
