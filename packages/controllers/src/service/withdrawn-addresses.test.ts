/** An address that the cloud no longer shows as a Service's draws no traffic to it: also while the Service cannot be brought to what it asks for. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CloudError, loadBalancerOwnerAnnotation, type LoadBalancerPart } from '@outrigger/cloud-provider';
import { noJournal } from '../journal.ts';
import { webSpec } from './rig.suite.ts';
import { actionOn, createTold, IDLE, OTHER, partOf, type Told } from './told-cloud.suite.ts';

const VIP = '10.9.0.1';
const FLOATING = '192.0.2.7';
const LONG_MS = 3_600_000;
/** This cloud has no such thing. */
const refusedSpec = { ...webSpec, ports: [{ port: 81, protocol: 'SCTP' as const, nodePort: 30_081 }] };

const balancer = (addresses?: readonly string[], more: Partial<LoadBalancerPart> = {}): LoadBalancerPart => ({
  ...partOf('load-balancer a'),
  ...more,
  addresses,
});
const ips = ({ rig }: Told, name = 'web'): readonly (string | undefined)[] =>
  (rig.api.get(name)?.status?.loadBalancer?.ingress ?? []).map(({ ip }) => ip);

/** Served at a floating IP of a load balancer that others may share. `parts`: beside it. */
async function served(prepare: (told: Told) => void = () => {}): Promise<Told> {
  const told = await createTold();
  told.parts = [balancer([VIP, FLOATING])];
  told.serve = () => ({ actions: [], complete: true, ingress: [{ ip: FLOATING }] });
  told.rig.provider.planMembers = () => ({ ...IDLE, complete: true });
  prepare(told);
  told.rig.api.apply('web', webSpec);
  await told.rig.start();
  await told.rig.clock.advance(10_000);
  assert.deepEqual(ips(told), [FLOATING]);
  return told;
}

/** The wish is refused for the first time; the address is still there. */
async function refused(prepare?: (told: Told) => void): Promise<Told> {
  const told = await served(prepare);
  told.rig.api.apply('web', refusedSpec);
  await told.rig.clock.advance(10_000);
  assert.deepEqual(ips(told), [FLOATING]);
  return told;
}

const withoutMembers = ({ rig }: Told): void => void Reflect.deleteProperty(rig.provider, 'planMembers');

for (const [what, prepare] of [
  ['a provider that plans members', () => {}],
  ['a provider that does not', withoutMembers],
] as const) {
  test(`an address that is no longer shown goes from a Service that the host refuses, of ${what}`, async () => {
    const told = await refused(prepare);
    told.parts = [balancer([VIP])];
    await told.rig.clock.advance(LONG_MS);
    assert.deepEqual(ips(told), []);
    const { message = '' } = told.rig.events.find(({ reason }) => reason === 'LoadBalancerAddressGone') ?? {};
    assert.match(message, /192\.0\.2\.7/u);
    const { length } = told.rig.api.patches;
    await told.rig.clock.advance(LONG_MS);
    assert.equal(told.rig.api.patches.length, length);
    await told.rig.stop();
  });
}

test('… and one that is shown stays, with the host name beside it', async () => {
  const told = await served();
  told.serve = () => ({ actions: [], complete: true, ingress: [{ ip: VIP }, { ip: FLOATING }, { hostname: 'lb' }] });
  told.rig.api.apply('web', { ...webSpec, ports: [{ port: 82, nodePort: 30_082 }] });
  await told.rig.clock.advance(10_000);
  told.rig.api.apply('web', refusedSpec);
  told.parts = [balancer([VIP])];
  await told.rig.clock.advance(LONG_MS);
  assert.deepEqual(
    told.rig.api.get('web')?.status?.loadBalancer?.ingress?.map(({ hostname, ip }) => ip ?? hostname),
    [VIP, 'lb'],
  );
  await told.rig.stop();
});

test('it goes from one whose provider refuses it, whose plan is not allowed, or whose change the cloud refuses', async () => {
  const ways: Readonly<Record<string, (told: Told) => void>> = {
    refused: (told) => (told.serve = () => ({ ...IDLE, refused: new CloudError('conflict', 'no such class') })),
    'not allowed': (told) =>
      (told.serve = () => ({
        ...IDLE,
        actions: [{ ...actionOn('update', 'load-balancer a'), touches: [{ kind: 'network', id: 'n' }] }],
      })),
    'refused by the cloud': (told) => {
      told.serve = () => ({ ...IDLE, actions: [actionOn('update', 'load-balancer a')] });
      told.apply = () => ({ kind: 'failed', error: new CloudError('invalid', 'no such flavor') });
    },
  };
  for (const [what, change] of Object.entries(ways)) {
    const told = await served();
    change(told);
    told.rig.api.apply('web', { ...webSpec, ports: [{ port: 82, nodePort: 30_082 }] });
    await told.rig.clock.advance(10_000);
    assert.deepEqual(ips(told), [FLOATING], what);
    told.parts = [balancer([VIP])];
    await told.rig.clock.advance(LONG_MS);
    assert.deepEqual(ips(told), [], what);
    await told.rig.stop();
  }
});

test('a new process, which has never seen the address, takes it from a Service that is refused', async () => {
  const told = await refused();
  await told.rig.stop();
  told.parts = [balancer([VIP])];
  await told.rig.start();
  await told.rig.clock.advance(LONG_MS);
  assert.deepEqual(ips(told), []);
  await told.rig.stop();
});

test('who takes the finalizer and the owner off a Service that is refused does not keep the address', async () => {
  const told = await refused();
  const { api, clock } = told.rig;
  const { [loadBalancerOwnerAnnotation]: _, ...annotations } = api.get('web')?.metadata?.annotations ?? {};
  api.apply('web', refusedSpec, { annotations, finalizers: [] });
  await clock.advance(10_000);
  told.parts = [balancer([VIP])];
  await clock.advance(LONG_MS);
  assert.deepEqual(ips(told), []);
  await told.rig.stop();
});

test('nothing goes by one look, nor by what is uncertain, whatever the time', async () => {
  const firewall = partOf('firewall f');
  const cases: Readonly<Record<string, (told: Told) => void>> = {
    'a look that fails': ({ rig }) => {
      rig.provider.observe = (services) =>
        Promise.resolve(services.map(() => ({ kind: 'failed', error: new CloudError('unavailable', 'down') })));
    },
    'a look without a part that the cloud cannot be asked about': (told) => {
      told.rig.provider.read = (parts) =>
        Promise.resolve(parts.map(() => ({ kind: 'failed', error: new CloudError('unavailable', 'down') })));
      told.parts = [balancer([VIP])];
    },
    'a part at work that says no address': (told) => {
      told.parts = [balancer([], { state: 'pending' }), firewall];
    },
    "an address of the Service's that a predecessor's part shows": (told) => {
      told.parts = [balancer([VIP]), firewall, { ...partOf('address b'), owner: undefined, addresses: [FLOATING] }];
    },
  };
  for (const [what, change] of Object.entries(cases)) {
    const told = await refused((early) => {
      early.parts = [...early.parts, firewall];
      early.rig.provider.read = (parts) => Promise.resolve(parts.map(() => ({ kind: 'there' })));
    });
    // A process takes the members of its provider when it begins.
    change(told);
    await told.rig.clock.advance(LONG_MS);
    assert.deepEqual(ips(told), [FLOATING], what);
    await told.rig.stop();
  }
  const told = await refused();
  told.parts = [balancer([VIP])];
  await told.rig.clock.advance(310_000);
  told.parts = [balancer([VIP, FLOATING])];
  await told.rig.clock.advance(LONG_MS);
  assert.deepEqual(ips(told), [FLOATING], 'one look');
  await told.rig.stop();
});

test('an address that no part has ever shown is of a predecessor, and stays until the Service has its own', async () => {
  for (const addresses of [undefined, [VIP]]) {
    const told = await createTold();
    const { api, clock } = told.rig;
    told.parts = [balancer(addresses)];
    told.serve = () => ({ ...IDLE, actions: [actionOn('update', 'load-balancer a')] });
    told.apply = () => ({ kind: 'failed', error: new CloudError('quota', 'full') });
    const service = api.apply('web', webSpec);
    api.services.put({ ...service, status: { loadBalancer: { ingress: [{ ip: FLOATING }] } } });
    await told.rig.start();
    await clock.advance(LONG_MS);
    assert.deepEqual(ips(told), [FLOATING]);
    await told.rig.stop();
  }
});

test("what is another's shows nothing for the Service, and a dry run takes nothing away", async () => {
  const told = await refused();
  const others = [balancer([VIP]), { ...partOf('address b'), owner: OTHER, addresses: [FLOATING] }];
  await told.rig.stop();
  told.parts = others;
  await told.rig.start({}, { journal: { ...noJournal, dryRun: true, perform: () => Promise.resolve(undefined) } });
  await told.rig.clock.advance(LONG_MS);
  assert.deepEqual(ips(told), [FLOATING]);
  await told.rig.stop();
  await told.rig.start();
  await told.rig.clock.advance(LONG_MS);
  assert.deepEqual(ips(told), []);
  await told.rig.stop();
});
