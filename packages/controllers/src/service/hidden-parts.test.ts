// Over 400 lines: one rig, and one test for each way in which a cloud can hide a part.
/** What is done, and what is not, where the cloud cannot be asked and a look may leave out what is there: after a restart, of what was just made, of what was seen. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CloudError, type LoadBalancerPart, type LoadBalancerPlan } from '@outrigger/cloud-provider';
import { nodeOf, webSpec } from './rig.suite.ts';
import {
  actionOn,
  createTold,
  goesWithin,
  IDLE,
  lookAgain,
  makeLoadBalancer,
  mine,
  OTHER,
  partOf,
  READY,
  served,
  SOON_MS,
  type Told,
  without,
  withoutRecord,
} from './told-cloud.suite.ts';
import { releaseAnnotation } from './well-known-names.ts';

test('a new process that is shown one part is not sure that it is shown all: the finalizer stays, and what appears is deleted', async () => {
  const told = await served('load-balancer a', 'address b');
  const { api, clock, provider } = told.rig;
  await told.rig.stop();
  withoutRecord(told);
  without(told, 'load-balancer');
  clock.setTimer(60_000, () => void (told.parts = [partOf('load-balancer a')]));
  // It is deleted before the new process has seen it served.
  api.delete('web');
  await told.rig.start();
  await clock.advance(30_000);
  assert.deepEqual(provider.applied, ['delete address b']);
  assert.ok(api.get('web'), 'the finalizer stays while the load balancer may be there');
  await clock.advance(60_000);
  assert.deepEqual(provider.applied, ['delete address b', 'delete load-balancer a']);
  await clock.advance(120_000);
  assert.equal(api.get('web'), undefined);
  await told.rig.stop();
});

test('a new process that has seen a Service served is sure of all that it has', async () => {
  const told = await served('load-balancer a', 'address b');
  await told.rig.stop();
  await told.rig.start();
  await told.rig.clock.advance(1_000);
  await goesWithin(told, SOON_MS);
});

test('a new process makes nothing beside what may be hidden: of a Service that has an address all was there', async () => {
  const told = await served('load-balancer a', 'address b');
  const { clock, provider } = told.rig;
  const truth = told.parts;
  told.serve = makeLoadBalancer;
  await told.rig.stop();
  withoutRecord(told);
  without(told, 'load-balancer');
  clock.setTimer(60_000, () => void (told.parts = truth));
  await told.rig.start();
  await clock.advance(150_000);
  assert.deepEqual(provider.applied, []);
  without(told, 'load-balancer');
  await told.rig.stop();
  await told.rig.start();
  await clock.advance(80_000);
  assert.deepEqual(provider.applied, []);
  await clock.advance(60_000);
  assert.deepEqual(provider.applied, ['create load-balancer undefined'], 'what stays away is made again');
  await told.rig.stop();
});

test('what can be done whatever is hidden is done at once: it comes before what is made', async () => {
  const told = await served('load-balancer a', 'address b');
  const { clock, provider } = told.rig;
  told.serve = (parts) => {
    const { actions } = makeLoadBalancer(parts);
    const open = provider.applied.includes('update address b') ? [] : [actionOn('update', 'address b')];
    return { ...IDLE, actions: [...open, ...actions, actionOn('update', 'firewall c')] };
  };
  await told.rig.stop();
  withoutRecord(told);
  told.parts = [partOf('address b'), partOf('firewall c')];
  await told.rig.start();
  await clock.advance(60_000);
  assert.deepEqual(provider.applied, ['update address b']);
  await told.rig.stop();
});

test('half made by another process, and never served: what is missing is made at once', async () => {
  const told = await createTold();
  told.serve = (parts) => ({ ...makeLoadBalancer(parts), complete: false });
  told.parts = [partOf('address b')];
  told.apply = () => ({ kind: 'pending', handle: 'a', pollAfterMs: 600_000 });
  told.rig.api.apply('web', webSpec);
  await told.rig.start();
  await told.rig.clock.advance(1_000);
  await told.rig.stop();
  told.rig.provider.applied.splice(0);
  await told.rig.start();
  await told.rig.clock.advance(1_000);
  assert.deepEqual(told.rig.provider.applied, ['create load-balancer undefined']);
  await told.rig.stop();
});

/** A Service whose address is there, and whose load balancer was made a moment ago and is not shown. */
async function justMade(): Promise<Told> {
  const told = await createTold();
  told.parts = [partOf('address b')];
  told.serve = makeLoadBalancer;
  told.apply = ({ kind, part }) => {
    if (kind === 'delete') told.parts = told.parts.filter((one) => one.kind !== part);
    return { kind: 'done' };
  };
  told.rig.api.apply('web', webSpec);
  await told.rig.start();
  await told.rig.clock.advance(5_000);
  assert.deepEqual(told.rig.provider.applied, ['create load-balancer undefined']);
  return told;
}

test('what was made a moment ago, and is not shown while others are, is made once, and told of', async () => {
  const told = await justMade();
  const { clock, provider } = told.rig;
  const [fact] = told.rig.planned('web');
  assert.match(fact?.text ?? '', /does not list all expected parts .* Missing: load-balancer \(just made\)\.$/u);
  clock.setTimer(60_000, () => void (told.parts = [...told.parts, partOf('load-balancer a')]));
  await clock.advance(150_000);
  assert.deepEqual(provider.applied, ['create load-balancer undefined']);
  await goesWithin(told, SOON_MS);
});

test('what was made a moment ago, and is not shown while others are, is waited for when the Service goes', async () => {
  const told = await justMade();
  told.rig.api.delete('web');
  await told.rig.clock.advance(30_000);
  assert.ok(told.rig.api.get('web'), 'the finalizer stays while the load balancer may be there');
  told.parts = [partOf('load-balancer a')];
  await told.rig.clock.advance(60_000);
  assert.equal(told.rig.api.get('web'), undefined);
  assert.deepEqual(told.parts, []);
  await told.rig.stop();
});

test('an action that makes nothing, such as an address that cannot be had, holds up neither the Service nor its deletion', async () => {
  const told = await createTold();
  let learned = false;
  told.serve = (parts) => {
    if (parts.length === 0) return { ...IDLE, actions: [actionOn('create', 'load-balancer')] };
    return learned ? READY : { ...IDLE, actions: [actionOn('create', 'address')] };
  };
  told.apply = ({ kind, part }) => {
    if (kind === 'delete') told.parts = [];
    else if (part === 'address') learned = true;
    else told.parts = [partOf('load-balancer a')];
    return { kind: 'done' };
  };
  told.rig.api.apply('web', webSpec);
  await told.rig.start();
  await told.rig.clock.advance(5_000);
  assert.ok(told.rig.reasons('web').includes('EnsuredLoadBalancer'));
  await goesWithin(told, SOON_MS);
});

test('two of one kind that were made together are two: the one that is not shown is waited for', async () => {
  const told = await createTold();
  const both = [actionOn('create', 'address'), actionOn('create', 'address')];
  told.serve = (parts) => (parts.length < 2 ? { ...IDLE, actions: both.slice(parts.length) } : READY);
  told.apply = () => {
    told.parts = [partOf('address a')];
    return { kind: 'done' };
  };
  told.rig.api.apply('web', webSpec);
  await told.rig.start();
  await told.rig.clock.advance(60_000);
  assert.equal(told.rig.provider.applied.length, 2);
  await told.rig.stop();
});

/** As OpenStack plans: first what hangs below the load balancer, alone; what else is missing in a later pass. */
function updateThenAddress(isOutdated: () => boolean) {
  return (parts: readonly LoadBalancerPart[]): LoadBalancerPlan => {
    if (isOutdated()) return { ...IDLE, actions: [actionOn('update', 'load-balancer a')] };
    if (!parts.some(({ kind }) => kind === 'address')) return { ...IDLE, actions: [actionOn('create', 'address')] };
    return READY;
  };
}

for (const restart of [true, false]) {
  const when = restart ? 'after a restart' : 'in the process that made it';
  test(`what is gone for good is made again also where the back ends change each minute, ${when}`, async () => {
    const told = restart ? await served('load-balancer a', 'address b') : await createTold();
    const { rig } = told;
    let outdated = false;
    let made = 0;
    told.serve = updateThenAddress(() => outdated);
    told.apply = ({ kind }) => {
      if (kind === 'update') outdated = false;
      // Of the first one nothing is ever seen.
      else if (++made > (restart ? 0 : 1)) told.parts = [...told.parts, partOf('address c')];
      return { kind: 'done' };
    };
    await rig.stop();
    if (restart) withoutRecord(told);
    told.parts = [partOf('load-balancer a')];
    if (!restart) rig.api.apply('web', webSpec);
    await rig.start();
    for (let i = 0; i < 5; i++) {
      outdated = true;
      rig.api.nodes.put(nodeOf(`n${i % 2}`, { metadata: { name: `n${i % 2}`, uid: `u${i}` } }));
      await rig.clock.advance(60_000);
    }
    assert.equal(made, restart ? 1 : 2);
    await rig.stop();
  });
}

/** Something is hidden while this is done, and shown again; an hour later it is hidden again. */
async function hiddenTwice(told: Told, meanwhile: () => Promise<void>): Promise<void> {
  const { clock } = told.rig;
  const truth = told.parts;
  told.parts = [];
  await meanwhile();
  told.parts = truth;
  await clock.advance(3_600_000);
  told.parts = [];
  clock.setTimer(30_000, () => void (told.parts = truth));
}

test('a doubt of an hour ago is no doubt of now: the Service was changed, changed back, and goes', async () => {
  const told = await served('load-balancer a');
  const { api, clock } = told.rig;
  await hiddenTwice(told, async () => {
    api.apply('web', { ...webSpec, ports: [{ port: 81, nodePort: 30_081 }] });
    await clock.advance(2_000);
    api.apply('web', webSpec);
    await clock.advance(2_000);
  });
  api.delete('web');
  await clock.advance(20_000);
  assert.ok(api.get('web'), 'the finalizer stays');
  await told.rig.stop();
});

test('a doubt of an hour ago is no doubt of now: a node came and went, and nothing is made beside what is hidden', async () => {
  const told = await served('load-balancer a');
  const { api, clock, provider } = told.rig;
  told.serve = makeLoadBalancer;
  await hiddenTwice(told, async () => {
    api.nodes.put(nodeOf('n2'));
    await clock.advance(5_000);
    api.nodes.remove('n2');
    await clock.advance(5_000);
  });
  await lookAgain(told);
  assert.deepEqual(provider.applied, []);
  await told.rig.stop();
});

test('each part has 90 s of its own: one that is hidden after another was is waited for', async () => {
  const told = await served('load-balancer a', 'address b');
  const { api, clock } = told.rig;
  const [loadBalancer, address] = told.parts;
  assert.ok(loadBalancer && address);
  told.parts = [address];
  clock.setTimer(85_000, () => void (told.parts = [loadBalancer]));
  clock.setTimer(145_000, () => void (told.parts = told.parts.length > 0 ? [loadBalancer, address] : [address]));
  api.delete('web');
  await clock.advance(144_000);
  assert.ok(api.get('web'), 'the finalizer stays: the address was hidden for less than a minute');
  await told.rig.stop();
});

test('two looks that show nothing, with failures in between, are not 90 s of looks that show nothing', async () => {
  const told = await served('load-balancer a');
  const { api, clock, provider } = told.rig;
  const truth = told.parts;
  const observe = provider.observe.bind(provider);
  told.parts = [];
  api.delete('web');
  await clock.advance(1);
  provider.observe = () => Promise.reject(new CloudError('unavailable', 'unwell'));
  await clock.advance(100_000);
  provider.observe = observe;
  clock.setTimer(60_000, () => void (told.parts = truth));
  await clock.advance(59_000);
  assert.ok(api.get('web'), 'the finalizer stays');
  await told.rig.stop();
});

test('an address that is to be replaced after a restart is not taken away long before the next one is made', async () => {
  const told = await served('load-balancer a', 'address b');
  const { api, clock } = told.rig;
  // As OpenStack plans a loadBalancerIP that is not there yet.
  told.serve = (parts) => {
    const old = parts.filter(({ kind }) => kind === 'address');
    if (old.some(({ id }) => id === 'c')) return READY;
    return {
      ...IDLE,
      actions: [...old.map(({ id }) => actionOn('delete', `address ${id}`)), actionOn('create', 'address')],
    };
  };
  const at = new Map<string, number>();
  told.apply = ({ kind }) => {
    at.set(kind, clock.monotonic());
    told.parts = kind === 'delete' ? told.parts.filter(({ id }) => id !== 'b') : [...told.parts, partOf('address c')];
    return { kind: 'done' };
  };
  await told.rig.stop();
  api.apply('web', { ...webSpec, ports: [{ port: 81, nodePort: 30_081 }] });
  await told.rig.start();
  await clock.advance(150_000);
  assert.ok((at.get('create') ?? Infinity) - (at.get('delete') ?? 0) < 5_000);
  await told.rig.stop();
});

test('what was asked for without an answer is asked for again, and may be there: the finalizer stays while it may be hidden', async () => {
  const told = await createTold();
  const { api, clock, provider } = told.rig;
  told.serve = makeLoadBalancer;
  told.apply = ({ kind }) => {
    if (kind === 'create') return { kind: 'failed', error: new CloudError('timeout', 'no answer') };
    told.parts = [];
    return { kind: 'done' };
  };
  api.apply('web', webSpec);
  await told.rig.start();
  await clock.advance(10_000);
  assert.ok(provider.applied.length > 1);
  api.delete('web');
  clock.setTimer(60_000, () => void (told.parts = [partOf('load-balancer a')]));
  await clock.advance(59_000);
  assert.ok(api.get('web'), 'the finalizer stays');
  assert.match(told.rig.planned('web')[0]?.text ?? '', /Missing: load-balancer \(asked for, without an answer\)\.$/u);
  await clock.advance(120_000);
  assert.equal(api.get('web'), undefined);
  assert.deepEqual([provider.applied.at(-1), told.parts], ['delete load-balancer a', []]);
  await told.rig.stop();
});

test('whoever has a load balancer released is told of the one that was made just before', async () => {
  const told = await createTold();
  const { api, clock, events, provider } = told.rig;
  told.serve = makeLoadBalancer;
  told.apply = () => ({ kind: 'pending', handle: 'a', pollAfterMs: 1_000 });
  api.apply('web', webSpec);
  await told.rig.start();
  await clock.advance(2_000);
  provider.observe = () => Promise.reject(new CloudError('unavailable', 'the cloud is gone'));
  const annotations = { ...api.get('web')?.metadata?.annotations, [releaseAnnotation]: 'true' };
  api.apply('web', webSpec, { annotations });
  api.delete('web');
  await clock.advance(60_000);
  const released = events.find(({ reason }) => reason === 'ReleasedLoadBalancer');
  assert.match(released?.message ?? '', /load-balancer \(just made\)/u);
  await told.rig.stop();
});

test('who asks is told what waits, also where something else is done meanwhile', async () => {
  const told = await served('load-balancer a', 'address b');
  await told.rig.stop();
  withoutRecord(told);
  told.parts = [partOf('load-balancer a')];
  told.serve = () => ({ ...IDLE, actions: [actionOn('update', 'load-balancer a'), actionOn('create', 'address')] });
  told.apply = () => ({ kind: 'pending', handle: 'x', pollAfterMs: 5_000 });
  await told.rig.start();
  await told.rig.clock.advance(10_000);
  const [update, later] = told.rig.planned('web');
  assert.match(update?.text ?? '', /^Update load-balancer a/u);
  assert.match(later?.text ?? '', /^Look again: .* before this process began\.$/u);
  await told.rig.stop();
});

test('90 s are 90 s, however seldom is looked', async () => {
  const told = await served('load-balancer a');
  told.parts = [];
  await goesWithin(told, 95_000);
});

test('a new process that sees what is another’s alone is not sure that it is shown all', async () => {
  const told = await served('load-balancer a', 'address b');
  const { api, clock } = told.rig;
  const theirs = partOf('dns web', { owner: OTHER });
  await told.rig.stop();
  withoutRecord(told);
  told.parts = [theirs];
  clock.setTimer(60_000, () => void (told.parts = [partOf('load-balancer a'), theirs]));
  api.delete('web');
  await told.rig.start();
  await clock.advance(58_000);
  assert.ok(api.get('web'), 'the finalizer stays while the load balancer may be there');
  await told.rig.stop();
});

test('what was made and is hidden holds up no part of another kind', async () => {
  const told = await justMade();
  const { clock, provider } = told.rig;
  told.serve = (parts) => {
    const missing = ['dns', 'load-balancer'].filter((kind) => !parts.some((part) => part.kind === kind));
    return { ...IDLE, actions: missing.map((kind) => actionOn('create', kind)) };
  };
  await clock.advance(20_000);
  assert.deepEqual(provider.applied, ['create load-balancer undefined', 'create dns undefined']);
  await told.rig.stop();
});

test('what is known of a Service is known of it when it is deleted by force: what is hidden is waited for', async () => {
  const told = await served('load-balancer a', 'address b');
  const { api, clock, provider } = told.rig;
  const truth = told.parts;
  without(told, 'load-balancer');
  api.delete('web');
  await clock.advance(5_000);
  api.services.remove('default/web');
  await clock.advance(30_000);
  assert.deepEqual(provider.applied, []);
  told.parts = truth;
  await clock.advance(40_000);
  assert.deepEqual(told.parts, []);
  await told.rig.stop();
});

test('what is left to others is not left while more may be there: nobody would find it again', async () => {
  const told = await served('address b');
  const { api, clock, provider } = told.rig;
  const address = { kind: 'address', id: 'b' };
  told.remove = (parts) => {
    const [first] = mine(parts);
    if (!first) return { ...IDLE, complete: true };
    // Without a load balancer that it is on it is taken for one that was only lent.
    if (mine(parts).length === 1) return { ...IDLE, actions: [actionOn('update', 'address b', [address])] };
    return { ...IDLE, actions: [actionOn('delete', 'load-balancer a', [address])] };
  };
  told.apply = () => {
    told.parts = [];
    return { kind: 'done' };
  };
  await told.rig.stop();
  withoutRecord(told);
  api.delete('web');
  await told.rig.start();
  await clock.advance(60_000);
  assert.deepEqual(provider.applied, []);
  told.parts = [partOf('address b'), partOf('load-balancer a')];
  await clock.advance(25_000);
  assert.deepEqual(provider.applied, ['delete load-balancer a']);
  await told.rig.stop();
});

test('a part that appears proves the looks before it wrong: the 90 s begin anew', async () => {
  const told = await served('load-balancer a', 'address b', 'firewall c');
  const { api, clock } = told.rig;
  await told.rig.stop();
  withoutRecord(told);
  without(told, 'load-balancer', 'firewall');
  clock.setTimer(80_000, () => void (told.parts = [partOf('firewall c')]));
  clock.setTimer(150_000, () => void (told.parts = [partOf('load-balancer a')]));
  api.delete('web');
  await told.rig.start();
  await clock.advance(149_000);
  assert.ok(api.get('web'), 'the finalizer stays while the load balancer may be there');
  await told.rig.stop();
});
