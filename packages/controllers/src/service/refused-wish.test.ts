/** What a Service wishes and which nodes it has are two things: while the first is refused, the second goes on. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CloudError } from '@outrigger/cloud-provider';
import { createRig, nodeOf, servedRig, webSpec, type Rig } from './rig.suite.ts';

const loadBalancerOf = (rig: Rig): Readonly<Record<string, unknown>> | undefined =>
  rig.cloud.parts().find(({ kind }) => kind === 'load-balancer')?.attributes;
const backEndsOf = (rig: Rig): unknown => loadBalancerOf(rig)?.backEnds;
const port = (number: number, protocol: 'TCP' | 'SCTP') =>
  ({ port: number, protocol, nodePort: 30_000 + number, name: `p${number}` }) as const;

/** An edit that this cloud has no way to serve. */
const refusedSpec = { ...webSpec, ports: [port(80, 'TCP'), port(81, 'SCTP')] };

async function rotate(rig: Rig): Promise<void> {
  rig.api.nodes.put(nodeOf('n2'));
  await rig.clock.advance(10_000);
  rig.api.nodes.remove('n1');
  await rig.clock.advance(10_000);
}

test('an edit that is refused leaves the load balancer as it was, and its members follow the nodes', async () => {
  const rig = await servedRig();
  const { ports } = loadBalancerOf(rig) ?? {};
  rig.api.apply('web', refusedSpec);
  await rig.clock.advance(10_000);
  assert.equal(rig.reasons('web').at(-1), 'SyncLoadBalancerFailed');
  await rotate(rig);
  assert.deepEqual([backEndsOf(rig), loadBalancerOf(rig)?.ports], [['memory://r/n2'], ports]);
  assert.match(JSON.stringify(rig.planned('web')), /protocol SCTP.*members follow the nodes/);
  await rig.stop();
});

test('a process that finds it so follows the nodes too', async () => {
  const rig = await servedRig();
  await rig.stop();
  rig.api.apply('web', refusedSpec);
  await rig.start();
  await rig.clock.advance(10_000);
  await rotate(rig);
  assert.deepEqual(backEndsOf(rig), ['memory://r/n2']);
  await rig.stop();
});

test('nodes that do not change cost a refused Service no look at the cloud, and one Event', async () => {
  const rig = await servedRig();
  rig.api.apply('web', refusedSpec);
  await rig.clock.advance(10_000);
  const { observes } = rig.provider;
  const { length } = rig.events;
  rig.api.nodes.put(nodeOf('n1', { metadata: { labels: { a: 'b' } } }));
  await rig.clock.advance(60_000);
  assert.deepEqual([rig.provider.observes, rig.events.length], [observes, length]);
  await rig.stop();
});

test('an edit that is taken back finds all as it should be', async () => {
  const rig = await servedRig();
  rig.api.apply('web', refusedSpec);
  await rig.clock.advance(10_000);
  await rotate(rig);
  rig.api.apply('web', { ...webSpec, ports: [port(82, 'TCP')] });
  await rig.clock.advance(10_000);
  assert.deepEqual(
    [backEndsOf(rig), loadBalancerOf(rig)?.ports],
    [['memory://r/n2'], [{ port: 82, protocol: 'TCP', nodePort: 30_082 }]],
  );
  assert.equal(rig.reasons('web').at(-1), 'EnsuredLoadBalancer');
  await rig.stop();
});

test('what the cloud refuses keeps no member from following the nodes', async () => {
  for (const code of ['quota', 'invalid', 'unavailable'] as const) {
    const rig = await servedRig();
    const { ports } = loadBalancerOf(rig) ?? {};
    rig.provider.before = ({ input, part }) => {
      if (part === 'load-balancer' && JSON.stringify(input.ports) !== JSON.stringify(ports)) {
        throw new CloudError(code, 'no more ports');
      }
    };
    rig.api.apply('web', { ...webSpec, ports: [port(80, 'TCP'), port(83, 'TCP')] });
    await rig.clock.advance(10_000);
    await rotate(rig);
    assert.deepEqual([backEndsOf(rig), loadBalancerOf(rig)?.ports], [['memory://r/n2'], ports], code);
    rig.provider.before = () => {};
    rig.api.nodes.put(nodeOf('n3'));
    await rig.clock.advance(600_000);
    assert.match(JSON.stringify(loadBalancerOf(rig)?.ports), /30083/, code);
    await rig.stop();
  }
});

test('a set of back ends that becomes empty is not believed at once for a refused Service either', async () => {
  const rig = await servedRig();
  rig.api.apply('web', refusedSpec);
  await rig.clock.advance(10_000);
  rig.api.nodes.remove('n1');
  await rig.clock.advance(290_000);
  assert.deepEqual(backEndsOf(rig), ['memory://r/n1']);
  await rig.clock.advance(20_000);
  assert.deepEqual(backEndsOf(rig), []);
  await rig.stop();
});

test('a plan of members that makes or deletes something is not carried out', async () => {
  const rig = await servedRig();
  // The controller takes the plans of its provider when it begins.
  await rig.stop();
  rig.provider.planMembers = () => ({
    actions: [{ kind: 'create', part: 'dns', summary: '', input: {} }],
    complete: false,
    ingress: [],
  });
  rig.provider.applied.length = 0;
  rig.api.apply('web', refusedSpec);
  await rig.start();
  await rig.clock.advance(10_000);
  assert.deepEqual(rig.provider.applied, []);
  assert.match(JSON.stringify(rig.events), /the provider planned to create dns where only members may change/);
  await rig.stop();
});

test('a provider is told whether the whole plan comes after that of members', async () => {
  const rig = await servedRig();
  await rig.stop();
  const { planMembers } = rig.provider;
  const told = new Set<boolean | undefined>();
  rig.provider.planMembers = (desired, parts, isRefused) => {
    told.add(isRefused);
    return planMembers(desired, parts, isRefused);
  };
  rig.provider.before = () => {
    throw new CloudError('unavailable', 'not now');
  };
  await rig.start();
  rig.api.apply('web', { ...webSpec, ports: [port(80, 'TCP'), port(83, 'TCP')] });
  await rig.clock.advance(60_000);
  assert.deepEqual(told, new Set([false]));
  told.clear();
  rig.api.apply('web', refusedSpec);
  await rig.clock.advance(60_000);
  assert.deepEqual(told, new Set([true]));
  await rig.stop();
});

test('nodes that come and go while the members of a refused Service cannot be changed are followed at once', async () => {
  const rig = await servedRig();
  rig.api.apply('web', refusedSpec);
  await rig.clock.advance(10_000);
  // The cloud does what it was asked for, and says that it has not.
  rig.provider.after = () => {
    throw new CloudError('quota', 'no');
  };
  rig.api.nodes.put(nodeOf('n2'));
  await rig.clock.advance(10_000);
  assert.deepEqual(backEndsOf(rig), ['memory://r/n1', 'memory://r/n2']);
  rig.provider.after = () => {};
  rig.api.nodes.remove('n2');
  await rig.clock.advance(10_000);
  assert.deepEqual(backEndsOf(rig), ['memory://r/n1']);
  await rig.stop();
});

test('a plan of members that fails keeps no Service from being mended', async () => {
  const rig = await servedRig();
  await rig.stop();
  rig.provider.planMembers = () => {
    throw new CloudError('invalid', 'no members');
  };
  rig.provider.before = () => {
    throw new CloudError('unavailable', 'not now');
  };
  await rig.start();
  rig.api.apply('web', { ...webSpec, ports: [port(80, 'TCP'), port(83, 'TCP')] });
  await rig.clock.advance(10_000);
  rig.provider.before = () => {};
  await rig.clock.advance(600_000);
  assert.match(JSON.stringify(loadBalancerOf(rig)?.ports), /30083/);
  assert.equal(rig.reasons('web').at(-1), 'EnsuredLoadBalancer');
  await rig.stop();
});

test('members that cannot be changed alone keep no Service from being mended by its whole plan', async () => {
  const rig = await servedRig();
  const before = JSON.stringify(loadBalancerOf(rig)?.ports);
  let isDown = true;
  rig.provider.before = ({ input, part }) => {
    if (part !== 'load-balancer') return;
    if (isDown || JSON.stringify(input.ports) === before) throw new CloudError('conflict', 'not as it is');
  };
  rig.api.nodes.put(nodeOf('n2'));
  rig.api.apply('web', { ...webSpec, ports: [port(80, 'TCP'), port(83, 'TCP')] });
  await rig.clock.advance(10_000);
  isDown = false;
  await rig.clock.advance(600_000);
  assert.match(JSON.stringify(loadBalancerOf(rig)?.ports), /30083/);
  assert.deepEqual(backEndsOf(rig), ['memory://r/n1', 'memory://r/n2']);
  await rig.stop();
});

test('members that fail once beside a wish that the cloud refuses are tried again soon', async () => {
  const rig = await servedRig();
  const before = JSON.stringify(loadBalancerOf(rig)?.ports);
  let failures = 0;
  rig.provider.before = ({ input, part }) => {
    if (part !== 'load-balancer') return;
    if (JSON.stringify(input.ports) !== before) throw new CloudError('invalid', 'no such ports');
    if (failures++ === 0) throw new CloudError('unavailable', 'not now');
  };
  rig.api.apply('web', { ...webSpec, ports: [port(80, 'TCP'), port(83, 'TCP')] });
  await rig.clock.advance(10_000);
  rig.api.nodes.put(nodeOf('n2'));
  await rig.clock.advance(60_000);
  assert.deepEqual([backEndsOf(rig), failures], [['memory://r/n1', 'memory://r/n2'], 2]);
  await rig.stop();
});

test('what the cloud refuses as invalid is tried at once when the Service itself changes: also after hours, and with another annotation alone', async () => {
  const ways: Readonly<Record<string, (rig: Rig) => void>> = {
    'other ports': ({ api }) => void api.apply('web', { ...webSpec, ports: [port(84, 'TCP')] }),
    'an annotation': ({ api }) => {
      api.apply('web', api.get('web')?.spec ?? {}, {
        annotations: { ...api.get('web')?.metadata?.annotations, a: 'b' },
      });
    },
  };
  for (const [what, change] of Object.entries(ways)) {
    for (const isServed of [false, true]) {
      const rig = isServed ? await servedRig() : await createRig();
      const tries: string[] = [];
      let refuses = true;
      rig.provider.before = (_action, { service: { annotations, ports } }) => {
        tries.push(JSON.stringify([ports.map((one) => one.port), annotations.a]));
        if (refuses) throw new CloudError('invalid', 'the network has no room for this');
      };
      rig.api.nodes.put(nodeOf('n1'));
      rig.api.apply('web', { ...webSpec, ports: [port(83, 'TCP')] });
      if (!isServed) await rig.start();
      // The next try of its own is up to half an hour away by then.
      await rig.clock.advance(10_000_000);
      const before = tries.length;
      refuses = false;
      change(rig);
      await rig.clock.advance(1_000);
      assert.ok(tries.length > before, `${what}, ${isServed ? 'served before' : 'new'}: not tried`);
      assert.equal(new Set(tries.slice(before)).size, 1);
      assert.ok((rig.api.get('web')?.status?.loadBalancer?.ingress ?? []).length > 0);
      assert.equal(rig.reasons('web').at(-1), 'EnsuredLoadBalancer');
      await rig.stop();
    }
  }
});
