import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sameOwner, type ForeignThing, type LoadBalancerPart } from '@outrigger/cloud-provider';
import type { Service } from '@outrigger/kube';
import { CLUSTER } from '../load-balancer/memory-provider.suite.ts';
import { lockOf } from './lock-of.ts';
import { createRig, nodeOf, webSpec } from './rig.suite.ts';
import { actionOn, IDLE, ME, OTHER, partOf } from './told-cloud.suite.ts';

const service: Service = { metadata: { namespace: 'default', name: 'web', uid: ME.uid }, spec: webSpec };
const own = partOf('load-balancer own');
const theirs = partOf('load-balancer theirs', { owner: OTHER });
const nobodys = partOf('load-balancer nobodys', { owner: undefined });
const thing = (of: LoadBalancerPart): ForeignThing => ({
  kind: of.kind,
  id: of.id,
  owner: of.owner ?? OTHER,
  allowed: [],
});

test('the lock of a Service is that of what it may change, as its look shows it, and before a look its own', () => {
  const lockFor = (
    parts: readonly LoadBalancerPart[] | undefined,
    {
      others = [],
      sharing = 'namespace',
      isSpent = false,
    }: {
      readonly others?: readonly ForeignThing[];
      readonly sharing?: 'namespace' | 'cluster';
      readonly isSpent?: boolean;
    } = {},
  ): string =>
    lockOf(
      service,
      parts && {
        uid: ME.uid,
        startedAt: 0,
        observation: { kind: 'parts', asOf: 0, parts, others },
        answers: new Map(),
        isSpent,
      },
      {
        cloud: { lockKey: (_service, known = []) => known.map(({ id }) => id).join(' ') },
        options: {
          clusterId: CLUSTER,
          sharing,
          providerName: 'memory',
          classes: [],
          isDefault: true,
          providers: ['memory'],
        },
        serviceOf: () => undefined,
      },
    );
  assert.equal(lockFor(undefined), ME.uid);
  assert.equal(lockFor([own], { isSpent: true }), ME.uid, 'nothing is done by a look that is spent');
  assert.equal(lockFor([own, nobodys, theirs]), 'own nobodys');
  assert.equal(lockFor([own, theirs], { others: [thing(theirs)] }), 'own');
  assert.equal(lockFor([own, theirs], { others: [thing(theirs)], sharing: 'cluster' }), 'own theirs', 'it may join');
  assert.equal(lockFor([nobodys], { others: [thing(nobodys)] }), '', 'nor claim what is set aside for others');
});

test('who names the load balancer of another does not keep that one from being changed, nor cuts what is done about it', async () => {
  const BUSY_MS = 1_000;
  const rig = await createRig();
  const uidOf = (name: string): string => rig.api.get(name)?.metadata?.uid ?? '';
  // As a provider does for which an annotation names what is shared.
  rig.provider.lockKey = ({ name, uid }, parts) => {
    if (!parts) return 'load-balancer-web';
    return parts.find(({ id }) => id === 'load-balancer-web')?.id ?? parts[0]?.id ?? (name === 'web' ? 'x' : uid);
  };
  const steps = new Map<string, number>();
  rig.provider.observe = async (services) => {
    // Of many ports.
    if (services.some(({ name }) => name === 'web')) await rig.clock.sleep(2 * BUSY_MS);
    const asOf = rig.clock.monotonic();
    return services.map(({ name, uid }) => {
      const owner = { clusterId: CLUSTER, uid };
      const ofIts = partOf(`load-balancer load-balancer-${name}`, { owner });
      const victim = { ...ofIts, id: 'load-balancer-web', owner: { clusterId: CLUSTER, uid: uidOf('web') } };
      if (sameOwner(victim.owner, owner)) return { kind: 'parts', asOf, parts: [ofIts] };
      return { kind: 'parts', asOf, parts: [ofIts, victim], others: [thing(victim)] };
    });
  };
  rig.provider.plan = ({ service: { name }, wanted }) => {
    const left = name === 'web' ? 5 - (steps.get(name) ?? 0) : 1;
    if (!wanted || left === 0) return { ...IDLE, complete: true };
    const actions = Array.from({ length: left }, () => actionOn('update', `load-balancer load-balancer-${name}`));
    return { ...IDLE, actions };
  };
  rig.provider.apply = async (_action, { service: { name } }) => {
    steps.set(name, (steps.get(name) ?? 0) + 1);
    await rig.clock.sleep(BUSY_MS / 2);
    return { kind: 'pending', handle: name, pollAfterMs: BUSY_MS / 2 };
  };
  rig.api.nodes.put(nodeOf('n1'));
  rig.api.apply('web', webSpec, { annotations: { ports: '60' } });
  for (const name of ['evil0', 'evil1', 'evil2']) {
    rig.api.namespaces.set(name, 'evil');
    rig.api.apply(name, webSpec);
  }
  await rig.start();
  await rig.clock.advance(20_000);
  assert.equal(steps.get('web'), 5);
  assert.ok((steps.get('evil0') ?? 0) > 5, 'they are at work all the time');
  await rig.stop();
});

test('nothing is done under a lock that is another by now', async () => {
  const rig = await createRig();
  let asked = 0;
  rig.provider.lockKey = () => (asked++ === 0 ? 'before' : 'after');
  const held: boolean[] = [];
  rig.provider.before = () => void held.push(!rig.locks.tryAcquire('after', 'test', () => {}));
  rig.api.nodes.put(nodeOf('n1'));
  rig.api.apply('web', webSpec);
  await rig.start();
  await rig.clock.advance(10_000);
  assert.ok(held.length > 0 && held.every(Boolean), held.join());
  await rig.stop();
});
