// Over 400 lines: one rig, and one test for each way in which Services, clouds, writers and crashes can be in the way.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  adaptLoadBalancers,
  CloudError,
  loadBalancerOwnerAnnotation,
  type LoadBalancerPart,
} from '@outrigger/cloud-provider';
import { StatusError } from '@outrigger/kube';
import { CLUSTER } from '../load-balancer/memory-provider.suite.ts';
import { createRig, nodeOf, webSpec, type Rig } from './rig.suite.ts';
import { readyCondition, cleanupFinalizer, releaseAnnotation } from './well-known-names.ts';

const KINDS = ['address', 'dns', 'firewall', 'load-balancer'];

const kindsOf = (rig: Rig, uid = 'uid-1'): readonly string[] =>
  rig
    .partsOf(uid)
    .map(({ kind }) => kind)
    .toSorted();
const ingressOf = (rig: Rig, name = 'web'): unknown => rig.api.get(name)?.status?.loadBalancer?.ingress;
const backEndsOf = (rig: Rig): unknown =>
  rig.cloud.parts().find(({ kind }) => kind === 'load-balancer')?.attributes.backEnds;

async function served(): Promise<Rig> {
  const rig = await createRig();
  rig.api.nodes.put(nodeOf('n1'));
  rig.api.apply('web', webSpec);
  await rig.start();
  await rig.clock.advance(0);
  assert.deepEqual(kindsOf(rig), KINDS);
  return rig;
}

test('a Service gets all parts, its finalizer and owner first, then its status, with two patches', async () => {
  const rig = await createRig();
  rig.api.nodes.put(nodeOf('n1'));
  rig.provider.before = () => {
    const { metadata } = rig.api.get('web') ?? {};
    assert.deepEqual(metadata?.finalizers, [cleanupFinalizer]);
    assert.equal(metadata?.annotations?.[loadBalancerOwnerAnnotation], 'memory');
  };
  rig.api.apply('web', webSpec);
  await rig.start();
  await rig.clock.advance(0);
  assert.deepEqual(kindsOf(rig), KINDS);
  assert.deepEqual(ingressOf(rig), [{ ip: '203.0.113.1', ipMode: 'VIP' }]);
  assert.deepEqual(rig.reasons('web'), ['EnsuringLoadBalancer', 'EnsuredLoadBalancer']);
  assert.equal(rig.api.patches.length, 2);
  assert.deepEqual(backEndsOf(rig), ['memory://r/n1']);
  await rig.stop();
});

test('nothing is made for a Service that was deleted in the moment of its first finalizer, also before the watch tells it', async () => {
  const rig = await createRig();
  rig.api.nodes.put(nodeOf('n1'));
  rig.api.after = () => {
    rig.api.services.holdWatch = true;
    rig.api.services.objects.delete('default/web');
  };
  rig.api.apply('web', webSpec);
  await rig.start();
  await rig.clock.advance(60_000);
  assert.deepEqual(rig.provider.applied, []);
  rig.api.services.holdWatch = false;
  rig.api.services.publish();
  await rig.clock.advance(60_000);
  assert.deepEqual(rig.provider.applied, []);
  await rig.stop();
});

test('nothing is made while the API server does not say whether the Service is there', async () => {
  const rig = await createRig();
  rig.api.nodes.put(nodeOf('n1'));
  rig.api.reading = () => Promise.reject(new StatusError('GET', 503, { reason: 'ServiceUnavailable', code: 503 }));
  rig.api.apply('web', webSpec);
  await rig.start();
  await rig.clock.advance(1_000);
  assert.deepEqual(rig.provider.applied, []);
  assert.ok(rig.reasons('web').includes('SyncLoadBalancerFailed'));
  rig.api.reading = () => Promise.resolve();
  await rig.clock.advance(10_000);
  assert.deepEqual(kindsOf(rig), KINDS);
  await rig.stop();
});

test('the list has each Service with its parts and what it waits for; one that is settled costs no plan', async () => {
  const rig = await createRig();
  rig.cloud.configure({ loadBalancerDelayMs: 4_000 });
  rig.api.apply('web', webSpec);
  rig.api.apply('plain', { ...webSpec, type: 'ClusterIP' });
  await rig.start();
  await rig.clock.advance(600);
  const waiting = rig.listed('web');
  assert.equal(waiting?.state, 'bring');
  assert.ok(waiting?.parts?.some(({ kind, state }) => kind === 'load-balancer' && state === 'pending'));
  assert.ok((waiting?.planned.length ?? 0) > 0);
  assert.equal(rig.listed('plain'), undefined);
  await rig.clock.advance(10_000);
  let plans = 0;
  const { plan } = rig.provider;
  rig.provider.plan = (...args) => (plans++, plan.apply(rig.provider, args));
  const settled = rig.listed('web');
  assert.deepEqual([settled?.state, settled?.planned, settled?.parts?.length, plans], ['ready', [], 4, 0]);
  await rig.stop();
});

test('a plan that is given up before its first action, and is made again, is carried out at once', async () => {
  const rig = await createRig();
  rig.api.nodes.put(nodeOf('n1'));
  rig.api.apply('web', webSpec);
  const { plan } = rig.provider;
  let edits = 0;
  rig.provider.plan = (desired, parts) => {
    // The Service is changed between its plan and the first action, twice, in what this provider makes nothing of.
    const { annotations } = rig.api.get('web')?.metadata ?? {};
    if (edits < 2 && desired.wanted) {
      rig.api.apply('web', webSpec, { annotations: { ...annotations, edit: String(++edits) } });
    }
    return plan(desired, parts);
  };
  await rig.start();
  await rig.clock.advance(0);
  assert.equal(edits, 2);
  assert.deepEqual(kindsOf(rig), KINDS);
  await rig.stop();
});

test("what is pending is looked at in the provider's own measure, ever more seldom", async () => {
  const rig = await createRig();
  rig.cloud.configure({ loadBalancerDelayMs: 4_000 });
  const looks: number[] = [];
  rig.provider.observing = () => void looks.push(rig.clock.monotonic());
  rig.api.apply('web', webSpec);
  const begun = rig.clock.monotonic();
  await rig.start();
  await rig.clock.advance(6_000);
  assert.deepEqual(kindsOf(rig), KINDS);
  const waits = looks.slice(1).map((at, i) => at - (looks[i] ?? begun));
  assert.deepEqual(
    waits.filter((ms) => ms > 0),
    // Each at a tenth of a second.
    [500, 500, 800, 1_200, 1_700],
  );
  await rig.stop();
});

test('a deleted Service goes when all its parts are gone, the last one made first', async () => {
  const rig = await served();
  rig.provider.applied.length = 0;
  rig.api.onGone = ({ metadata }) => assert.deepEqual(kindsOf(rig, metadata?.uid), []);
  rig.api.delete('web');
  await rig.clock.advance(10_000);
  assert.equal(rig.api.get('web'), undefined);
  assert.deepEqual(
    rig.provider.applied,
    KINDS.toSorted()
      .map((kind) => `delete ${kind} web`)
      .toSorted((a, b) => order(a) - order(b)),
  );
  assert.deepEqual(rig.reasons('web').slice(2), ['DeletingLoadBalancer', 'DeletedLoadBalancer']);
  await rig.stop();
});

const order = (text: string): number =>
  ['dns', 'firewall', 'load-balancer', 'address'].findIndex((kind) => text.includes(kind));

test('a changed type is cleaned up: status, finalizer and owner go in one patch, the Service stays', async () => {
  const rig = await served();
  const patches = rig.api.patches.length;
  rig.api.apply('web', { ...webSpec, type: 'ClusterIP' });
  await rig.clock.advance(10_000);
  const service = rig.api.get('web');
  assert.deepEqual(kindsOf(rig), []);
  assert.deepEqual([service?.metadata?.finalizers, service?.metadata?.annotations], [[], {}]);
  assert.deepEqual(service?.status?.loadBalancer, {});
  assert.equal(rig.api.patches.length - patches, 1);
  rig.api.apply('web', webSpec);
  await rig.clock.advance(0);
  assert.deepEqual(kindsOf(rig), KINDS);
  await rig.stop();
});

test('a class of another controller is left alone; changed to one, our parts go and our finalizer with them', async () => {
  const rig = await served();
  rig.api.apply('theirs', { ...webSpec, loadBalancerClass: 'example.com/other' });
  await rig.clock.advance(0);
  assert.equal(rig.api.get('theirs')?.metadata?.finalizers, undefined);
  rig.api.apply('ours', { ...webSpec, loadBalancerClass: 'outrigger.dev/memory' });
  await rig.clock.advance(0);
  assert.equal(kindsOf(rig, 'uid-3').length, 4);
  rig.api.apply('ours', { ...webSpec, loadBalancerClass: 'example.com/other' });
  await rig.clock.advance(10_000);
  assert.equal(kindsOf(rig, 'uid-3').length, 0);
  assert.deepEqual(rig.api.get('ours')?.metadata?.finalizers, []);
  await rig.stop();
});

test('what the controller of the new class has written to the status is not cleared with our finalizer', async () => {
  for (const restart of [false, true]) {
    const rig = await served();
    const [ours] = rig.api.get('web')?.status?.loadBalancer?.ingress ?? [];
    assert.ok(ours);
    if (restart) await rig.stop();
    // The moment in which it writes: with the change of the class, or while our parts go.
    rig.provider.before = ({ kind, part }) => {
      if (kind === 'delete' && part === 'address' && !restart) theirs();
    };
    const theirs = (): void => {
      const service = rig.api.get('web') ?? {};
      rig.api.services.put({ ...service, status: { loadBalancer: { ingress: [{ ip: '198.51.100.7' }] } } });
    };
    rig.api.apply('web', { ...webSpec, loadBalancerClass: 'example.com/other' });
    if (restart) {
      theirs();
      await rig.start();
    }
    // A new process does not know that what it sees is all.
    await rig.clock.advance(restart ? 120_000 : 20_000);
    assert.deepEqual([kindsOf(rig), rig.api.get('web')?.metadata?.finalizers], [[], []]);
    assert.deepEqual(ingressOf(rig), [{ ip: '198.51.100.7' }]);
    await rig.stop();
  }
});

test('addresses that we wrote go with our finalizer where the class is another; not those that come as it goes', async () => {
  for (const late of [false, true]) {
    const rig = await served();
    rig.api.before = () => {
      rig.api.before = () => {};
      if (!late) return;
      const service = rig.api.get('web') ?? {};
      rig.api.services.put({ ...service, status: { loadBalancer: { ingress: [{ ip: '198.51.100.7' }] } } });
    };
    rig.api.apply('web', { ...webSpec, loadBalancerClass: 'example.com/other' });
    await rig.clock.advance(20_000);
    assert.deepEqual([kindsOf(rig), rig.api.get('web')?.metadata?.finalizers], [[], []]);
    assert.deepEqual(ingressOf(rig), late ? [{ ip: '198.51.100.7' }] : undefined);
    await rig.stop();
  }
});

test('a Service that is wanted again while it is let go is served, and nothing of it stays when it goes by force', async () => {
  const rig = await served();
  rig.api.before = () => {
    rig.api.before = () => {};
    rig.api.apply('web', webSpec);
  };
  rig.api.apply('web', { ...webSpec, loadBalancerClass: 'example.com/other' });
  await rig.clock.advance(20_000);
  assert.deepEqual([kindsOf(rig), rig.api.get('web')?.metadata?.finalizers], [KINDS, [cleanupFinalizer]]);
  rig.api.delete('web');
  rig.api.services.remove('default/web');
  await rig.clock.advance(20_000);
  assert.deepEqual(rig.cloud.parts(), []);
  await rig.stop();
});

test("another owner's finalizer stays, whatever becomes of the Service", async () => {
  const rig = await createRig();
  await rig.start();
  const metadata = { finalizers: [cleanupFinalizer], annotations: { [loadBalancerOwnerAnnotation]: 'other' } };
  rig.api.apply('a', webSpec, metadata);
  rig.api.apply('b', { ...webSpec, type: 'ClusterIP' }, metadata);
  rig.api.apply('c', { ...webSpec, type: 'ClusterIP' }, { finalizers: [cleanupFinalizer] });
  rig.api.apply('d', { ...webSpec, loadBalancerClass: 'x.example/y' }, { finalizers: [cleanupFinalizer] });
  for (const name of ['a', 'b', 'c', 'd']) rig.api.delete(name);
  await rig.clock.advance(600_000);
  assert.deepEqual(rig.api.patches, []);
  assert.deepEqual(rig.provider.applied, []);
  await rig.stop();
});

test('a restart does nothing that is already so: no action, no patch, no Event, one look at the cloud', async () => {
  const rig = await served();
  for (let i = 0; i < 50; i++) rig.api.apply(`s${i}`, webSpec);
  await rig.clock.advance(10);
  await rig.stop();
  const before = [rig.api.patches.length, rig.provider.applied.length, rig.events.length];
  rig.provider.observes = 0;
  await rig.start();
  await rig.clock.advance(60_000);
  assert.deepEqual([rig.api.patches.length, rig.provider.applied.length, rig.events.length], before);
  assert.equal(rig.provider.observes, 1);
  await rig.stop();
});

test('ten nodes that join within two seconds cost each load balancer one update', async () => {
  const rig = await served();
  rig.api.apply('two', webSpec);
  await rig.clock.advance(0);
  rig.provider.applied.length = 0;
  for (let i = 0; i < 10; i++) {
    rig.api.nodes.put(nodeOf(`m${i}`));
    await rig.clock.advance(200);
  }
  await rig.clock.advance(5_000);
  assert.deepEqual(rig.provider.applied.toSorted(), ['update load-balancer two', 'update load-balancer web']);
  assert.equal((backEndsOf(rig) as readonly string[]).length, 11);
  assert.deepEqual(rig.reasons('web').slice(2), ['UpdatedLoadBalancer']);
  await rig.stop();
});

test("readiness, the autoscaler's taint, foreign and unknown nodes wake nothing", async () => {
  const rig = await served();
  rig.provider.applied.length = 0;
  rig.provider.observes = 0;
  const taints = [{ key: 'ToBeDeletedByClusterAutoscaler', effect: 'NoSchedule' as const }];
  rig.api.nodes.put(nodeOf('n1', { spec: { providerID: 'memory://r/n1', taints } }));
  rig.api.nodes.put(
    nodeOf('n1', {
      spec: { providerID: 'memory://r/n1', taints },
      status: {
        addresses: [{ type: 'InternalIP', address: '10.0.0.1' }],
        conditions: [
          { type: 'Ready', status: 'False', lastHeartbeatTime: '', lastTransitionTime: '', reason: '', message: '' },
        ],
      },
    }),
  );
  rig.api.nodes.put(nodeOf('f', { spec: { providerID: 'aws:///f' } }));
  rig.api.nodes.put(nodeOf('g', { spec: {} }));
  await rig.clock.advance(60_000);
  assert.deepEqual([rig.provider.applied, rig.provider.observes], [[], 0]);
  await rig.stop();
});

/** A cloud that takes five seconds for a change, and a Service that is served there. */
async function slowlyServed(): Promise<Rig> {
  const rig = await served();
  rig.api.nodes.put(nodeOf('n2'));
  await rig.clock.advance(5_000);
  assert.deepEqual(backEndsOf(rig), ['memory://r/n1', 'memory://r/n2']);
  rig.cloud.configure({ loadBalancerDelayMs: 5_000 });
  return rig;
}

test('a change that is taken back while the cloud is at work on it is taken back there too', async () => {
  const rig = await slowlyServed();
  const portOf = (): unknown => rig.cloud.parts().find(({ kind }) => kind === 'load-balancer')?.attributes.ports;
  const before = portOf();
  rig.api.apply('web', { ...webSpec, ports: [{ port: 81, nodePort: 30_081 }] });
  await rig.clock.advance(1_000);
  assert.notDeepEqual(portOf(), before, 'it has begun');
  rig.api.apply('web', webSpec);
  await rig.clock.advance(30_000);
  assert.deepEqual(portOf(), before);
  assert.equal(rig.reasons('web').at(-1), 'EnsuredLoadBalancer');
  await rig.stop();
});

test('a node that comes back while the cloud takes it out is a back end again', async () => {
  const rig = await slowlyServed();
  rig.api.nodes.remove('n2');
  while ((backEndsOf(rig) as readonly string[]).length > 1) await rig.clock.advance(100);
  rig.api.nodes.put(nodeOf('n2'));
  await rig.clock.advance(30_000);
  assert.deepEqual(backEndsOf(rig), ['memory://r/n1', 'memory://r/n2']);
  await rig.stop();
});

test('a Service that wants its load balancer again while it is being deleted gets all of it', async () => {
  const rig = await served();
  // One part cannot be deleted yet.
  rig.provider.before = ({ kind, part }) => {
    if (kind === 'delete' && part === 'load-balancer') throw new CloudError('conflict', 'busy');
  };
  rig.api.apply('web', { ...webSpec, type: 'ClusterIP' });
  await rig.clock.advance(1_000);
  assert.deepEqual(kindsOf(rig), ['address', 'load-balancer']);
  rig.api.apply('web', webSpec);
  await rig.clock.advance(30_000);
  assert.deepEqual(kindsOf(rig), KINDS);
  await rig.stop();
});

test('a set of back ends that becomes empty is believed after five minutes only, and a person is told at once', async () => {
  const rig = await served();
  rig.api.nodes.remove('n1');
  await rig.clock.advance(290_000);
  assert.deepEqual(backEndsOf(rig), ['memory://r/n1']);
  assert.equal(rig.reasons('web').at(-1), 'UnAvailableLoadBalancer');
  await rig.clock.advance(20_000);
  assert.deepEqual(backEndsOf(rig), []);
  rig.api.nodes.put(nodeOf('n2'));
  await rig.clock.advance(5_000);
  assert.deepEqual(backEndsOf(rig), ['memory://r/n2']);
  await rig.stop();
});

test('an emptiness that ends in time changes nothing, and the next one is waited for anew', async () => {
  const rig = await served();
  for (let i = 0; i < 3; i++) {
    rig.api.nodes.remove('n1');
    await rig.clock.advance(200_000);
    rig.api.nodes.put(nodeOf('n1'));
    await rig.clock.advance(200_000);
    assert.deepEqual(backEndsOf(rig), ['memory://r/n1']);
  }
  assert.deepEqual(
    rig.provider.applied.filter((text) => text.startsWith('update')),
    [],
  );
  await rig.stop();
});

test('after a restart with no nodes nothing is emptied either', async () => {
  const rig = await served();
  await rig.stop();
  rig.api.nodes.remove('n1');
  await rig.start();
  await rig.clock.advance(290_000);
  assert.deepEqual(backEndsOf(rig), ['memory://r/n1']);
  await rig.clock.advance(20_000);
  assert.deepEqual(backEndsOf(rig), []);
  await rig.stop();
});

test('a Service deleted while its create is in flight leaks nothing', async () => {
  const rig = await createRig();
  let release = (): void => {};
  rig.provider.after = ({ part }) =>
    part === 'load-balancer' ? new Promise((resolve) => (release = resolve)) : undefined;
  rig.api.apply('web', webSpec);
  await rig.start();
  await rig.clock.advance(10);
  rig.api.delete('web');
  await rig.clock.advance(10);
  assert.ok(rig.api.get('web'), 'the finalizer holds it');
  rig.provider.after = () => {};
  release();
  await rig.clock.advance(10_000);
  assert.deepEqual([rig.api.get('web'), rig.cloud.parts()], [undefined, []]);
  assert.ok(!rig.provider.applied.includes('create dns web'), 'nothing more is made once it is deleted');
  await rig.stop();
});

test('a create whose answer is lost, and that takes effect seconds later, leaks nothing', async () => {
  const rig = await createRig();
  rig.provider.before = ({ kind, part }, desired) => {
    if (kind !== 'create' || part !== 'address') return;
    const tags = { ...desired.owner };
    rig.clock.setTimer(4_000, () => void rig.cloud.createPart({ kind: part, tags, attributes: {} }));
    rig.api.delete('web');
    throw new CloudError('unavailable', 'no answer');
  };
  rig.api.onGone = ({ metadata }) => assert.deepEqual(kindsOf(rig, metadata?.uid), []);
  rig.api.apply('web', webSpec);
  await rig.start();
  await rig.clock.advance(60_000);
  assert.deepEqual([rig.api.get('web'), rig.cloud.parts()], [undefined, []]);
  await rig.stop();
});

test('lists that lag behind hide no part from the one who waits for them', async () => {
  const rig = await createRig();
  rig.cloud.configure({ listLagMs: 3_000 });
  rig.provider.listLagMs = 3_000;
  rig.api.onGone = ({ metadata }) =>
    assert.equal(rig.cloud.parts().filter(({ tags }) => tags.uid === metadata?.uid).length, 0);
  rig.api.apply('web', webSpec);
  await rig.start();
  await rig.clock.advance(10);
  rig.api.delete('web');
  await rig.clock.advance(120_000);
  rig.cloud.configure({ listLagMs: 0 });
  assert.deepEqual([rig.api.get('web'), rig.cloud.parts()], [undefined, []]);
  await rig.stop();
});

test('who is woken while one list lags behind the others lets nothing go that it does not show yet', async () => {
  const rig = await createRig();
  rig.provider.listLagMs = 3_000;
  const madeAt = new Map<string, number>();
  rig.provider.after = ({ kind, part }) => void (kind === 'create' && madeAt.set(part, rig.clock.monotonic()));
  const observe = rig.provider.observe.bind(rig.provider);
  const isShown = ({ kind }: LoadBalancerPart): boolean =>
    kind === 'address' || rig.clock.monotonic() - (madeAt.get(kind) ?? 0) >= 3_000;
  rig.provider.observe = async (services, call) =>
    (await observe(services, call)).map((look) =>
      look.kind === 'parts' ? { ...look, parts: look.parts.filter(isShown) } : look,
    );
  rig.api.onGone = ({ metadata }) => assert.deepEqual(kindsOf(rig, metadata?.uid), []);
  rig.api.apply('web', webSpec);
  await rig.start();
  while (rig.cloud.parts().length < 4) await rig.clock.advance(100);
  rig.api.delete('web');
  for (let i = 0; i < 20; i++) {
    const { metadata, spec = {} } = rig.api.get('web') ?? {};
    assert.ok(metadata);
    rig.api.apply('web', spec, { annotations: { ...metadata.annotations, changed: String(i) } });
    await rig.clock.advance(100);
  }
  await rig.clock.advance(60_000);
  assert.deepEqual([rig.api.get('web'), rig.cloud.parts()], [undefined, []]);
  await rig.stop();
});

test('parts that are seen going away are expected no more: the finalizer goes when they have gone', async () => {
  const rig = await served();
  const { plan } = rig.provider;
  const observe = rig.provider.observe.bind(rig.provider);
  // A cloud that takes ten seconds for a deletion, and shows meanwhile what goes.
  let shown: readonly LoadBalancerPart[] = [];
  let goneAt = Infinity;
  rig.provider.observe = async (services, call) =>
    (await observe(services, call)).map((look) => {
      if (look.kind !== 'parts') return look;
      if (look.parts.length > 0) shown = look.parts.map((part) => ({ ...part, state: 'deleting' }));
      else goneAt = Math.min(goneAt, rig.clock.monotonic() + 10_000);
      return look.parts.length === 0 && rig.clock.monotonic() < goneAt ? { ...look, parts: shown } : look;
    });
  rig.provider.plan = (desired, parts) =>
    parts.some(({ state }) => state === 'deleting')
      ? { actions: [], complete: false, ingress: [] }
      : plan(desired, parts);
  rig.api.delete('web');
  await rig.clock.advance(5_000);
  assert.ok(rig.api.get('web'), 'they are still seen');
  await rig.clock.advance(30_000);
  assert.deepEqual([rig.api.get('web'), rig.cloud.parts()], [undefined, []]);
  await rig.stop();
});

test('a Service deleted and made anew under its name: the old one is cleaned up, the new one is served', async () => {
  const rig = await served();
  rig.api.services.holdWatch = true;
  rig.api.services.remove('default/web');
  rig.api.apply('web', webSpec);
  rig.api.services.holdWatch = false;
  rig.api.services.publish();
  await rig.clock.advance(120_000);
  assert.deepEqual(kindsOf(rig, 'uid-1'), []);
  assert.deepEqual(kindsOf(rig, 'uid-2'), KINDS);
  await rig.stop();
  assert.equal(rig.locks.appliedAt('uid-1'), -Infinity, 'nothing is remembered of the old one');
});

test('a Service that vanishes undeleted, as after a restore of etcd, keeps its load balancer', async () => {
  const rig = await served();
  rig.api.services.remove('default/web');
  await rig.clock.advance(600_000);
  assert.deepEqual(kindsOf(rig), KINDS);
  await rig.stop();
});

test('a Service whose finalizer somebody takes off to be rid of it at once leaves nothing behind', async () => {
  const rig = await served();
  rig.api.apply('web', webSpec, { ...rig.api.get('web')?.metadata, finalizers: [], annotations: {} });
  rig.api.services.remove('default/web');
  // In a plan it is `default/web (deleted)`: another one may have its name.
  assert.equal(rig.explain('default/web'), undefined);
  assert.deepEqual(rig.explain('uid-1')?.about, ['uid-1']);
  assert.match(rig.explain('uid-1')?.planned[0]?.text ?? '', /^Delete dns/u);
  await rig.clock.advance(60_000);
  assert.deepEqual(rig.cloud.parts(), []);
  assert.equal(rig.explain('uid-1'), undefined);
  await rig.stop();
});

test('a Service in whose place an older one comes, as by a list that is behind, keeps its load balancer', async () => {
  const rig = await served();
  const { metadata = {} } = rig.api.get('web') ?? {};
  rig.api.apply('web', webSpec, { ...metadata, creationTimestamp: '2026-01-02T00:00:00Z' });
  await rig.clock.advance(60_000);
  rig.api.apply('web', webSpec, { ...metadata, uid: 'uid-0', creationTimestamp: '2026-01-01T00:00:00Z' });
  await rig.clock.advance(600_000);
  assert.deepEqual(kindsOf(rig, 'uid-1'), KINDS);
  await rig.stop();
});

test('failures are told once, retried from 5 s up to 300 s, and end', async () => {
  const rig = await createRig();
  rig.api.nodes.put(nodeOf('n1'));
  const times: number[] = [];
  rig.provider.before = () => {
    times.push(rig.clock.monotonic());
    throw new CloudError('unavailable', 'the cloud is down');
  };
  rig.api.apply('web', webSpec);
  await rig.start();
  await rig.clock.advance(1_500_000);
  const gaps = times.slice(1).map((at, i) => Math.round((at - (times[i] ?? 0)) / 1000));
  assert.deepEqual(gaps.slice(0, 8), [5, 10, 20, 40, 80, 160, 300, 300]);
  assert.deepEqual(rig.reasons('web').slice(0, 2), ['EnsuringLoadBalancer', 'SyncLoadBalancerFailed']);
  assert.equal(rig.reasons('web').length, 2);
  rig.provider.before = () => {};
  await rig.clock.advance(300_000);
  assert.deepEqual(kindsOf(rig), KINDS);
  assert.equal(rig.reasons('web').at(-1), 'EnsuredLoadBalancer');
  await rig.stop();
});

for (const code of ['unauthenticated', 'quota', 'forbidden', 'invalid', 'unavailable'] as const) {
  test(`what failed with ${code} is tried again as soon as a changed cloud config is taken`, async () => {
    const rig = await createRig();
    rig.api.nodes.put(nodeOf('n1'));
    rig.provider.before = () => {
      throw new CloudError(code, 'not with this config');
    };
    rig.api.apply('web', webSpec);
    await rig.start();
    await rig.clock.advance(280_000);
    const { length: before } = rig.provider.applied;
    rig.provider.before = () => {};
    rig.reconfigured();
    await rig.clock.advance(1_000);
    assert.deepEqual([before, kindsOf(rig)], [0, KINDS]);
    // What is served is not looked at for it.
    const { observes } = rig.provider;
    rig.reconfigured();
    await rig.clock.advance(10_000);
    assert.equal(rig.provider.observes, observes);
    await rig.stop();
  });
}

test('what the cloud refuses as invalid is tried again after 5 to 30 minutes, told once, and served once it is mended', async () => {
  const rig = await createRig();
  rig.api.nodes.put(nodeOf('n1'));
  const times: number[] = [];
  rig.provider.before = () => {
    times.push(rig.clock.monotonic());
    throw new CloudError('invalid', 'the subnet s-1 does not exist');
  };
  rig.api.apply('web', webSpec);
  await rig.start();
  await rig.clock.advance(7_200_000);
  const gaps = times.slice(1).map((at, i) => Math.round((at - (times[i] ?? 0)) / 60_000));
  assert.deepEqual(gaps, [5, 10, 20, 30, 30]);
  rig.provider.before = () => {};
  await rig.clock.advance(1_800_000);
  assert.deepEqual(kindsOf(rig), KINDS);
  await rig.stop();
});

test('what the cloud refuses for the sake of a node is tried again as soon as the nodes change', async () => {
  const rig = await createRig();
  rig.api.nodes.put(nodeOf('bad'));
  rig.provider.before = (_, { backEnds }) => {
    if (backEnds.some(({ node }) => node.name === 'bad')) throw new CloudError('invalid', 'bad is in no subnet');
  };
  rig.api.apply('web', webSpec);
  await rig.start();
  await rig.clock.advance(1_000);
  assert.deepEqual(kindsOf(rig), []);
  rig.api.nodes.remove('bad');
  rig.api.nodes.put(nodeOf('good'));
  await rig.clock.advance(10_000);
  assert.deepEqual(kindsOf(rig), KINDS);
  await rig.stop();
});

test('retry-after is obeyed without an Event; implemented-elsewhere is left alone silently', async () => {
  const rig = await createRig();
  rig.api.nodes.put(nodeOf('n1'));
  let tries = 0;
  rig.provider.before = () => {
    tries += 1;
    throw tries < 3
      ? new CloudError('retry-after', 'not yet', { retryAfterMs: 7_000 })
      : new CloudError('implemented-elsewhere', 'not mine');
  };
  rig.api.apply('web', webSpec);
  await rig.start();
  await rig.clock.advance(6_900);
  assert.equal(tries, 1);
  await rig.clock.advance(7_200);
  assert.equal(tries, 3);
  await rig.clock.advance(600_000);
  assert.equal(tries, 3);
  assert.deepEqual(rig.reasons('web'), ['EnsuringLoadBalancer']);
  await rig.stop();
});

test('a Service that another controller holds by its finalizer is served as soon as that is gone, and not looked at before', async () => {
  const rig = await createRig();
  rig.api.nodes.put(nodeOf('n1'));
  const { plan } = rig.provider;
  rig.provider.plan = (desired, parts) => {
    if (!desired.service.finalizers?.includes('x.example/y')) return plan(desired, parts);
    throw new CloudError('implemented-elsewhere', 'x has it');
  };
  rig.api.apply('web', webSpec, { finalizers: ['x.example/y'] });
  await rig.start();
  await rig.clock.advance(600_000);
  const { provider } = rig;
  assert.deepEqual(
    [provider.observes, rig.api.patches.length, kindsOf(rig)],
    [1, 2, []],
    'recorded, and its condition',
  );
  const { metadata, status } = rig.api.get('web') ?? {};
  assert.match(JSON.stringify(status?.conditions), /"reason":"ImplementedElsewhere","message":"x has it/u);
  assert.match(
    rig
      .planned('web')
      .map(({ text }) => text)
      .join(),
    /another controller manages it: x has it\./u,
  );
  const finalizers = metadata?.finalizers?.filter((one) => one !== 'x.example/y') ?? [];
  assert.equal(finalizers.length, 1);
  rig.api.apply('web', webSpec, { ...metadata, finalizers });
  await rig.clock.advance(10_000);
  assert.deepEqual(kindsOf(rig), KINDS);
  await rig.stop();
});

test('what is not served is refused with one Event, before anything is made, until the Service changes', async () => {
  const rig = await createRig();
  rig.api.nodes.put(nodeOf('n1'));
  rig.api.apply('web', {
    ...webSpec,
    ports: [{ port: 9, protocol: 'SCTP', nodePort: 30_009 }],
    sessionAffinity: 'ClientIP',
  });
  rig.api.apply('bad', { ...webSpec, loadBalancerSourceRanges: ['10.0.0.0/33'] });
  await rig.start();
  await rig.clock.advance(600_000);
  const [event, ...others] = rig.events.filter(({ name }) => name === 'web');
  assert.match(event?.message ?? '', /does not serve protocol SCTP, sessionAffinity: ClientIP; .*\(unsupported\)/);
  assert.match(rig.events.find(({ name }) => name === 'bad')?.message ?? '', /"10\.0\.0\.0\/33" is not an IP range/);
  assert.deepEqual([others, rig.provider.observes], [[], 0]);
  const patched = rig.api.patches.map(({ name }) => name);
  assert.deepEqual(patched, ['web', 'bad'], 'each says once that it is refused');
  assert.deepEqual(rig.api.get('web')?.metadata?.finalizers, []);
  rig.api.apply('web', webSpec);
  await rig.clock.advance(0);
  assert.deepEqual(kindsOf(rig), KINDS);
  await rig.stop();
});

test("a name that another cluster has is refused with an Event and never touched; a predecessor's parts are claimed", async () => {
  const rig = await createRig();
  rig.api.nodes.put(nodeOf('n1'));
  const theirs = rig.cloud.createPart({
    kind: 'dns',
    tags: { clusterId: 'another', uid: 'x' },
    attributes: { name: 'web.default.memory.test' },
  });
  const old = rig.cloud.createPart({ kind: 'address', tags: { ccm: 'old' }, attributes: {} });
  const ingress = [{ ip: String(old.attributes.ip) }];
  rig.api.apply('web', webSpec);
  const moved = rig.api.apply('moved', webSpec, { finalizers: [cleanupFinalizer] });
  rig.api.services.put({ ...moved, status: { loadBalancer: { ingress } } });
  await rig.start();
  await rig.clock.advance(10_000);
  assert.match(
    rig.events.find(({ name, type }) => name === 'web' && type === 'Warning')?.message ?? '',
    /another cluster/,
  );
  assert.deepEqual(kindsOf(rig), []);
  assert.deepEqual(
    rig.cloud.parts().find(({ id }) => id === theirs.id),
    theirs,
  );
  assert.equal(rig.partsOf('uid-2').find(({ kind }) => kind === 'address')?.id, old.id);
  assert.deepEqual(ingressOf(rig, 'moved'), ingress);
  await rig.stop();
});

test('a plan that touches what is not proved to be ours is not carried out', async () => {
  const rig = await createRig();
  const theirs = rig.cloud.createPart({
    kind: 'dns',
    tags: { clusterId: 'another', uid: 'uid-1' },
    attributes: { name: 'web.default.memory.test' },
  });
  const action = { kind: 'delete', part: 'dns', id: theirs.id, summary: '', input: {} } as const;
  rig.provider.plan = () => ({ actions: [action], complete: false, ingress: [] });
  rig.api.apply('web', webSpec);
  await rig.start();
  await rig.clock.advance(1_000);
  assert.equal(rig.cloud.parts().length, 1);
  assert.match(rig.events[0]?.message ?? '', /not known to belong/);
  rig.provider.plan = () => ({ actions: [{ ...action, id: 'dns-77' }], complete: false, ingress: [] });
  rig.api.apply('web', { ...webSpec, ports: [] });
  await rig.clock.advance(1_000);
  assert.match(rig.events.at(-1)?.message ?? '', /it had not reported as existing/);
  await rig.stop();
});

test('a provider that says it is done while a part is left does not get the finalizer removed', async () => {
  const rig = await served();
  rig.provider.plan = () => ({ actions: [], complete: true, ingress: [] });
  rig.api.delete('web');
  await rig.clock.advance(100_000);
  assert.deepEqual(rig.api.get('web')?.metadata?.finalizers, [cleanupFinalizer]);
  await rig.stop();
});

test('a cloud that is gone for good: an Event says what fails, and the annotation lets the finalizer go', async () => {
  const rig = await served();
  rig.cloud.setFaults([{ effect: 'status', status: 503 }]);
  rig.api.delete('web');
  for (const no of ['', 'false', 'yes']) {
    rig.api.apply('web', webSpec, {
      annotations: { ...rig.api.get('web')?.metadata?.annotations, [releaseAnnotation]: no },
    });
    await rig.clock.advance(300_000);
    assert.ok(rig.api.get('web'), `${releaseAnnotation}=${no}`);
  }
  assert.equal(rig.reasons('web').at(-1), 'DeleteLoadBalancerFailed');
  assert.match(
    rig.events.at(-1)?.message ?? '',
    /kubectl annotate service NAME outrigger\.dev\/release-load-balancer=true$/u,
  );
  rig.api.apply('web', webSpec, {
    annotations: { ...rig.api.get('web')?.metadata?.annotations, [releaseAnnotation]: 'true' },
  });
  await rig.clock.advance(600_000);
  assert.equal(rig.api.get('web'), undefined);
  const { reason, message } = rig.events.at(-1) ?? {};
  assert.equal(reason, 'ReleasedLoadBalancer');
  assert.match(message ?? '', /Last seen: address address-0, load-balancer load-balancer-1/);
  await rig.stop();
});

test('what is let go names also the parts that were going away when they were last heard of', async () => {
  const rig = await served();
  const observe = rig.provider.observe.bind(rig.provider);
  let isGone = false;
  rig.provider.observe = async (services, call) => {
    if (isGone) throw new CloudError('unavailable', 'for good');
    return (await observe(services, call)).map((look) =>
      look.kind === 'parts'
        ? {
            ...look,
            parts: look.parts.map((part) => ({ ...part, ...(part.kind === 'firewall' && { state: 'deleting' }) })),
          }
        : look,
    );
  };
  rig.api.delete('web');
  // One is asked to go as well, and the answer never comes.
  rig.provider.before = ({ part }) => {
    isGone = true;
    throw new CloudError('timeout', `${part}: no answer`);
  };
  await rig.clock.advance(600_000);
  rig.api.apply('web', webSpec, {
    annotations: { ...rig.api.get('web')?.metadata?.annotations, [releaseAnnotation]: 'true' },
  });
  await rig.clock.advance(600_000);
  assert.equal(rig.api.get('web'), undefined);
  const { message = '' } = rig.events.at(-1) ?? {};
  for (const kind of KINDS) assert.match(message, new RegExp(`${kind} ${kind}-\\d`, 'u'));
  assert.match(message, /firewall firewall-\d \(being deleted\)/u);
  assert.equal(message.match(/being deleted/gu)?.length, 2, message);
  await rig.stop();
});

test('the annotation changes nothing while the cloud answers', async () => {
  const rig = await served();
  rig.api.apply('web', webSpec, {
    annotations: { ...rig.api.get('web')?.metadata?.annotations, [releaseAnnotation]: 'true' },
  });
  rig.api.delete('web');
  await rig.clock.advance(10_000);
  assert.deepEqual([rig.api.get('web'), rig.cloud.parts()], [undefined, []]);
  assert.ok(!rig.reasons('web').includes('ReleasedLoadBalancer'));
  await rig.stop();
});

test('Services that share a load balancer are never worked on at the same time', async () => {
  const rig = await createRig();
  rig.provider.lockKey = () => 'shared';
  let busy = 0;
  rig.provider.before = async () => {
    busy += 1;
    assert.equal(busy, 1);
    await rig.clock.sleep(10);
  };
  rig.provider.after = () => void (busy -= 1);
  for (let i = 0; i < 5; i++) rig.api.apply(`s${i}`, webSpec);
  await rig.start();
  await rig.clock.advance(2_000);
  assert.equal(rig.cloud.parts().length, 20);
  await rig.stop();
});

test('what was seen before somebody else changed the load balancer is not acted on', async () => {
  const rig = await createRig();
  rig.provider.lockKey = () => 'shared';
  let changes = 3;
  rig.provider.observing = async () => {
    if (changes-- <= 0) return;
    await rig.clock.sleep(10);
    rig.locks.noteApplied('shared', rig.clock.monotonic());
  };
  let looksBefore: number | undefined;
  rig.provider.before = () => void (looksBefore ??= rig.provider.observes);
  rig.api.apply('web', webSpec);
  await rig.start();
  await rig.clock.advance(1_000);
  assert.deepEqual([looksBefore, kindsOf(rig)], [4, KINDS]);
  await rig.stop();
});

test('a cloud that never shows what it was told to do is told ever more seldom', async () => {
  const rig = await served();
  const [part] = rig.cloud.parts().filter(({ kind }) => kind === 'firewall');
  const action = { kind: 'update', part: 'firewall', id: part?.id, summary: '', input: {} } as const;
  rig.provider.plan = () => ({ actions: [action], complete: false, ingress: [] });
  rig.provider.applied.length = 0;
  rig.api.apply('web', { ...webSpec, ports: [{ port: 81, nodePort: 30_081 }] });
  await rig.clock.advance(600_000);
  const { length } = rig.provider.applied;
  assert.ok(length > 5 && length < 40, `${length} times in ten minutes`);
  await rig.stop();
});

test('of a Service that was never ours and goes the cloud is not asked', async () => {
  const rig = await createRig();
  await rig.start();
  rig.api.apply('theirs', { ...webSpec, loadBalancerClass: 'example.com/other' }, { finalizers: [cleanupFinalizer] });
  rig.api.delete('theirs');
  rig.api.services.remove('default/theirs');
  await rig.clock.advance(200_000);
  assert.equal(rig.provider.observes, 0);
  await rig.stop();
});

test('what was seen of a Service says nothing of the next one of its name', async () => {
  const rig = await createRig();
  let answer = (): void => {};
  const asked: string[] = [];
  rig.provider.observe = async (services) => {
    const uids = services.map(({ uid }) => uid);
    asked.push(...uids);
    if (asked.length === 1) await new Promise<void>((resolve) => (answer = resolve));
    return uids.map((uid) => {
      const owner = { clusterId: CLUSTER, uid };
      const part = { kind: 'load-balancer', id: uid, owner, state: 'ready', attributes: {} } as const;
      return { kind: 'parts', asOf: rig.clock.monotonic(), parts: uid === 'uid-1' ? [part] : [] };
    });
  };
  rig.provider.plan = (_desired, parts) =>
    parts.length > 0
      ? { actions: [], complete: true, ingress: [{ hostname: 'lb.test' }] }
      : {
          actions: [{ kind: 'create', part: 'address', summary: '', input: {} }],
          complete: false,
          ingress: [],
        };
  rig.api.apply('web', webSpec);
  await rig.start();
  await rig.clock.advance(10);
  rig.api.services.remove('default/web');
  rig.api.apply('web', webSpec);
  await rig.clock.advance(10);
  answer();
  await rig.clock.advance(10);
  assert.deepEqual(asked.slice(0, 2), ['uid-1', 'uid-2']);
  assert.deepEqual([ingressOf(rig), rig.provider.applied[0]], [undefined, 'create address web']);
  await rig.stop();
});

test('the end ends what is under way, a change of back ends too, and nothing starts afterwards', async () => {
  const rig = await served();
  const apply = rig.provider.apply.bind(rig.provider);
  let signal: AbortSignal | undefined;
  rig.provider.apply = (_action, _desired, call) => {
    signal = call.signal;
    return new Promise((_resolve, reject) => {
      call.signal.addEventListener('abort', () => reject(call.signal.reason as Error), { once: true });
    });
  };
  rig.api.nodes.put(nodeOf('n2'));
  await rig.clock.advance(2_000);
  assert.equal(signal?.aborted, false);
  rig.provider.apply = apply;
  const before = [rig.provider.observes, rig.provider.applied.length, rig.api.patches.length, rig.events.length];
  await rig.stop();
  assert.equal(signal?.aborted, true);
  rig.api.nodes.put(nodeOf('n3'));
  rig.api.apply('another', webSpec);
  await rig.clock.advance(600_000);
  assert.deepEqual(
    [rig.provider.observes, rig.provider.applied.length, rig.api.patches.length, rig.events.length],
    before,
  );
});

test('a provider narrows the back ends of a Service; a node that it does not choose changes nothing', async () => {
  const rig = await createRig();
  rig.provider.selectBackEnds = ({ name }, backEnds) => backEnds.filter(({ node }) => node.name.startsWith(name));
  rig.api.nodes.put(nodeOf('web-1'));
  rig.api.nodes.put(nodeOf('other-1'));
  rig.api.apply('web', webSpec);
  await rig.start();
  await rig.clock.advance(10);
  assert.deepEqual(backEndsOf(rig), ['memory://r/web-1']);
  rig.provider.observes = 0;
  rig.api.nodes.put(nodeOf('other-2'));
  await rig.clock.advance(10_000);
  assert.equal(rig.provider.observes, 0);
  rig.api.nodes.put(nodeOf('web-2'));
  await rig.clock.advance(10_000);
  assert.deepEqual(backEndsOf(rig), ['memory://r/web-1', 'memory://r/web-2']);
  await rig.stop();
});

test('one load balancer that is stuck holds up no other', async () => {
  const rig = await createRig();
  rig.api.nodes.put(nodeOf('n1'));
  rig.provider.before = (_action, { service }) => (service.name === 's0' ? new Promise(() => {}) : undefined);
  for (let i = 0; i < 20; i++) rig.api.apply(`s${i}`, webSpec);
  await rig.start();
  await rig.clock.advance(100);
  assert.equal(rig.cloud.parts().length, 76);
  await rig.clock.advance(61_000);
  assert.match(
    rig.events.find(({ name, type }) => name === 's0' && type === 'Warning')?.message ?? '',
    /60000 ms \(timeout\)/,
  );
  await rig.stop();
});

test('a status that another writer has emptied is written again', async () => {
  const rig = await served();
  const { status: _, ...service } = rig.api.get('web') ?? {};
  rig.api.services.put(service);
  await rig.clock.advance(10);
  assert.deepEqual(ingressOf(rig), [{ ip: '203.0.113.1', ipMode: 'VIP' }]);
  await rig.stop();
});

test('a load balancer that is being made is looked at until it is ready, and the status waits for it', async () => {
  const rig = await createRig();
  rig.api.nodes.put(nodeOf('n1'));
  rig.cloud.configure({ loadBalancerDelayMs: 5_000 });
  rig.api.apply('web', webSpec);
  await rig.start();
  await rig.clock.advance(4_000);
  assert.equal(ingressOf(rig), undefined);
  await rig.clock.advance(4_000);
  assert.deepEqual(ingressOf(rig), [{ ip: '203.0.113.1', ipMode: 'VIP' }]);
  await rig.stop();
});

test('errors of ports become a condition, which turns False when they are gone; annotations and warnings are passed on', async () => {
  const rig = await createRig();
  rig.api.nodes.put(nodeOf('n1'));
  const warnings = [{ reason: 'SlowLoadBalancer', message: 'it is slow' }];
  const ingressWith = (error?: string): ReturnType<Rig['provider']['plan']> => ({
    actions: [],
    complete: true,
    ingress: [{ hostname: 'lb.test', ports: [{ port: 80, protocol: 'TCP', error }] }],
    annotations: { 'memory.test/zone': error ? 'a' : null },
    warnings,
  });
  rig.provider.plan = () => ingressWith('example.com/PortTaken');
  rig.api.apply('web', webSpec);
  await rig.start();
  await rig.clock.advance(10);
  const condition = (): unknown => {
    const { type, status, reason, message } =
      rig.api.get('web')?.status?.conditions?.find((one) => one.type !== readyCondition) ?? {};
    return [type, status, reason, message];
  };
  assert.deepEqual(condition(), ['LoadBalancerPortsError', 'True', 'PortTaken', 'TCP 80: example.com/PortTaken']);
  assert.equal(rig.api.get('web')?.metadata?.annotations?.['memory.test/zone'], 'a');
  assert.deepEqual(rig.reasons('web'), ['SlowLoadBalancer']);
  rig.provider.plan = () => ingressWith();
  rig.api.apply('web', { ...webSpec, ports: [{ port: 81, nodePort: 30_081 }] });
  await rig.clock.advance(10);
  assert.deepEqual(condition(), ['LoadBalancerPortsError', 'False', 'PortsServed', '']);
  assert.equal(rig.api.get('web')?.metadata?.annotations?.['memory.test/zone'], undefined);
  await rig.stop();
});

test('a look at the cloud that fails, breaks the contract or hangs concludes nothing, and is told', async () => {
  const looks: readonly (readonly [Rig['provider']['observe'], RegExp])[] = [
    [() => Promise.reject(new CloudError('throttled', 'too many')), /too many \(throttled\)/],
    [() => Promise.resolve([]), /0 answers to 1 questions about load balancers \(invalid\)/],
    [() => new Promise(() => {}), /within 30000 ms .* \(timeout\)/],
    // eslint-disable-next-line typescript/only-throw-error
    [() => Promise.reject('text'), /an unexpected error; the log has it/],
  ];
  for (const [observe, message] of looks) {
    const rig = await served();
    const inner = rig.provider.observe.bind(rig.provider);
    rig.provider.observe = observe;
    rig.api.delete('web');
    await rig.clock.advance(40_000);
    assert.match(rig.events.at(-1)?.message ?? '', message);
    assert.deepEqual([kindsOf(rig), rig.api.get('web')?.metadata?.finalizers], [KINDS, [cleanupFinalizer]]);
    rig.provider.observe = inner;
    await rig.clock.advance(600_000);
    assert.deepEqual([rig.api.get('web'), rig.cloud.parts()], [undefined, []]);
    await rig.stop();
  }
});

test("a finalizer from before the owner was recorded: a predecessor's parts that are seen make it ours to clean up", async () => {
  const rig = await createRig();
  const old = rig.cloud.createPart({ kind: 'address', tags: { ccm: 'old' }, attributes: {} });
  const service = rig.api.apply('web', { ...webSpec, type: 'ClusterIP' }, { finalizers: [cleanupFinalizer] });
  rig.api.services.put({ ...service, status: { loadBalancer: { ingress: [{ ip: String(old.attributes.ip) }] } } });
  await rig.start();
  await rig.clock.advance(120_000);
  assert.deepEqual([rig.cloud.parts(), rig.api.get('web')?.metadata?.finalizers], [[], []]);
  assert.deepEqual(rig.provider.applied, ['claim address web', 'delete address web']);
  await rig.stop();
});

test('an opaque provider is ensured and deleted by the same rules, what is half made too', async () => {
  const rig = await createRig();
  const calls: string[] = [];
  const { provider } = rig;
  const adapted = adaptLoadBalancers(
    {
      exists: () => Promise.resolve(false),
      ensure: ({ service }) => {
        calls.push(`ensure ${service.name}`);
        if (service.name === 'full') throw new CloudError('quota', 'no more addresses');
        return Promise.resolve([{ hostname: 'lb.test' }]);
      },
      delete: ({ name }) => Promise.resolve(void calls.push(`delete ${name}`)),
    },
    { clusterId: CLUSTER, classes: [], features: provider.features },
  );
  provider.observe = (services, call) => adapted.observe(services, call);
  provider.plan = (desired, parts) => adapted.plan(desired, parts);
  provider.apply = (action, desired, call) => adapted.apply(action, desired, call);
  rig.api.nodes.put(nodeOf('n1'));
  rig.api.apply('web', webSpec);
  rig.api.apply('full', webSpec);
  await rig.start();
  await rig.clock.advance(10_000);
  assert.deepEqual(ingressOf(rig), [{ hostname: 'lb.test' }]);
  assert.equal(rig.reasons('full').at(-1), 'SyncLoadBalancerFailed');
  for (const name of ['web', 'full']) rig.api.delete(name);
  await rig.clock.advance(10_000);
  assert.deepEqual([rig.api.get('web'), rig.api.get('full')], [undefined, undefined]);
  assert.deepEqual(calls.toSorted(), ['delete full', 'delete web', 'ensure full', 'ensure web']);
  await rig.stop();
});

test('a minute of empty lists loses nothing: no finalizer goes, and nothing is made twice', async () => {
  const rig = await served();
  rig.api.apply('two', webSpec);
  await rig.clock.advance(10);
  await rig.stop();
  await rig.start();
  await rig.clock.advance(10);
  rig.provider.applied.length = 0;
  rig.cloud.setFaults([{ operation: 'GET /parts', effect: 'empty' }]);
  rig.api.delete('web');
  rig.api.apply('two', { ...webSpec, ports: [{ port: 81, nodePort: 30_081 }] });
  await rig.clock.advance(60_000);
  assert.deepEqual(rig.provider.applied, []);
  assert.deepEqual(rig.api.get('web')?.metadata?.finalizers, [cleanupFinalizer]);
  rig.cloud.setFaults([]);
  await rig.clock.advance(60_000);
  assert.equal(rig.api.get('web'), undefined);
  assert.deepEqual([kindsOf(rig), kindsOf(rig, 'uid-2')], [[], KINDS]);
  await rig.stop();
});

test('a status that is refused for a conflict is written again, and only then is the load balancer called ensured', async () => {
  for (const other of [false, true]) {
    const rig = await createRig();
    rig.api.nodes.put(nodeOf('n1'));
    rig.api.apply('web', webSpec);
    let patches = 0;
    rig.api.before = () => {
      if (++patches !== 2) return;
      assert.deepEqual(rig.reasons('web'), ['EnsuringLoadBalancer']);
      const conditions = [
        { type: 'x.dev/Other', status: 'True' as const, lastTransitionTime: '', reason: 'R', message: '' },
      ];
      const service = rig.api.get('web') ?? {};
      // The other writer's version may come before the answer.
      if (other) rig.api.services.put({ ...service, status: { ...service.status, conditions } });
      throw new StatusError('PATCH', 409, { reason: 'Conflict', code: 409, message: 'it has been modified' });
    };
    await rig.start();
    await rig.clock.advance(500);
    assert.deepEqual([ingressOf(rig), rig.reasons('web')], [undefined, ['EnsuringLoadBalancer']]);
    await rig.clock.advance(10_000);
    assert.ok(ingressOf(rig));
    assert.deepEqual(rig.reasons('web'), ['EnsuringLoadBalancer', 'EnsuredLoadBalancer']);
    await rig.stop();
  }
});
