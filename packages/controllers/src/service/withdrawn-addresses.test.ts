// Over 400 lines: one rig, and one test for each way in which an address is withdrawn.
/** An address that the cloud no longer shows as a Service's draws no traffic to it: also while the Service cannot be brought to what it asks for. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  CloudError,
  loadBalancerOwnerAnnotation,
  type LoadBalancerPart,
  type PartAnswer,
} from '@outrigger/cloud-provider';
import { silentLogger } from '@outrigger/kube';
import { Journal, noJournal } from '../journal.ts';
import { FLOATING, ips, refusedSpec, servedAtFloating, VIP } from './floating-address.suite.ts';
import { webSpec } from './rig.suite.ts';
import { actionOn, createTold, IDLE, OTHER, partOf, type Told } from './told-cloud.suite.ts';

const SECOND = '192.0.2.8';
const LONG_MS = 3_600_000;

const balancer = (addresses?: readonly string[], more: Partial<LoadBalancerPart> = {}): LoadBalancerPart => ({
  ...partOf('load-balancer a'),
  ...more,
  addresses,
});

/** The wish is refused for the first time; the address is still there. */
async function refused(prepare?: (told: Told) => void): Promise<Told> {
  const told = await servedAtFloating(prepare);
  told.rig.api.apply('web', refusedSpec);
  await told.rig.clock.advance(10_000);
  assert.deepEqual(ips(told), [FLOATING]);
  return told;
}

/** `most` looks from here on are answered; counts them. */
function countLooks({ rig: { provider } }: Told, most: number): () => number {
  const observe = provider.observe.bind(provider);
  let looks = 0;
  provider.observe = (services, call) => {
    looks += 1;
    const failed = { kind: 'failed', error: new CloudError('unavailable', 'too many') } as const;
    return looks > most ? Promise.resolve(services.map(() => failed)) : observe(services, call);
  };
  return () => looks;
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
  const told = await servedAtFloating();
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
    const told = await servedAtFloating();
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

test('nor by two looks between which the cloud could not be looked at', async () => {
  let isDown = false;
  const looks: boolean[] = [];
  const told = await refused(({ rig: { provider } }) => {
    const observe = provider.observe.bind(provider);
    provider.observe = (services, call) => {
      looks.push(isDown);
      const failed = { kind: 'failed', error: new CloudError('unavailable', 'down') } as const;
      return isDown ? Promise.resolve(services.map(() => failed)) : observe(services, call);
    };
  });
  const { clock } = told.rig;
  told.parts = [balancer([VIP])];
  const next = async (): Promise<void> => {
    const before = looks.length;
    while (looks.length === before) await clock.advance(1_000);
  };
  await next();
  isDown = true;
  await next();
  await clock.advance(600_000);
  isDown = false;
  await next();
  assert.deepEqual(ips(told), [FLOATING], 'the first look that leaves it out again');
  await clock.advance(LONG_MS);
  assert.deepEqual(ips(told), []);
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

test('looks that say nothing neither take away an address that one has left out, nor go on without a pause', async () => {
  const firewall = partOf('firewall f');
  const cases: Readonly<Record<string, (told: Told) => void>> = {
    'a part is hidden': (told) => {
      told.parts = [balancer([VIP, FLOATING])];
    },
    'a part at work says no address': (told) => {
      told.parts = [balancer([VIP, FLOATING]), firewall, partOf('address b', { state: 'pending' })];
    },
  };
  for (const [what, change] of Object.entries(cases)) {
    const told = await refused((early) => {
      early.parts = [...early.parts, firewall];
      const failed = { kind: 'failed', error: new CloudError('unavailable', 'down') } as const;
      early.rig.provider.read = (parts) => Promise.resolve(parts.map(() => failed));
    });
    const looks = countLooks(told, 100);
    told.parts = [balancer([VIP]), firewall];
    await told.rig.clock.advance(310_000);
    change(told);
    await told.rig.clock.advance(LONG_MS);
    assert.deepEqual(ips(told), [FLOATING], what);
    assert.ok(looks() < 100, `${what}: ${looks()} looks`);
    await told.rig.stop();
  }
});

test('… nor after the address has been replaced by another', async () => {
  const told = await servedAtFloating();
  told.parts = [balancer([VIP, SECOND])];
  told.serve = () => ({ actions: [], complete: true, ingress: [{ ip: SECOND }] });
  told.rig.api.apply('web', { ...webSpec, ports: [{ port: 82, nodePort: 30_082 }] });
  await told.rig.clock.advance(120_000);
  assert.deepEqual(ips(told), [SECOND]);
  const looks = countLooks(told, 100);
  told.parts = [...told.parts, partOf('listener b', { state: 'pending' })];
  told.rig.api.apply('web', refusedSpec);
  await told.rig.clock.advance(LONG_MS);
  assert.ok(looks() < 100, `${looks()} looks`);
  assert.deepEqual(ips(told), [SECOND]);
  await told.rig.stop();
});

test('a cloud that can be asked is asked for the parts that could have the address before it goes', async () => {
  let answer: PartAnswer = { kind: 'there' };
  const asked: string[] = [];
  const told = await refused((early) => {
    early.parts = [balancer([VIP]), { ...partOf('floating-ip x'), addresses: [FLOATING] }];
    early.rig.provider.namedByOwner = ['floating-ip'];
    early.rig.provider.read = (parts) => {
      asked.push(...parts.map(({ kind }) => kind));
      return Promise.resolve(parts.map(() => answer));
    };
  });
  await told.rig.stop();
  told.parts = [balancer([VIP])];
  await told.rig.start();
  await told.rig.clock.advance(LONG_MS);
  assert.deepEqual(ips(told), [FLOATING], 'there');
  assert.deepEqual(new Set(asked), new Set(['floating-ip']));
  answer = { kind: 'failed', error: new CloudError('unavailable', 'down') };
  await told.rig.clock.advance(LONG_MS);
  assert.deepEqual(ips(told), [FLOATING], 'failed');
  answer = { kind: 'absent', proof: 'GET' };
  await told.rig.clock.advance(LONG_MS);
  assert.deepEqual(ips(told), [], 'absent');
  await told.rig.stop();
});

for (const [what, prepare] of [
  ['a provider that plans members', () => {}],
  ['a provider that does not', withoutMembers],
] as const) {
  test(`what was taken from a refused Service comes back when a part shows it again, of ${what}`, async () => {
    const told = await refused(prepare);
    told.parts = [balancer([VIP])];
    await told.rig.clock.advance(LONG_MS);
    assert.deepEqual(ips(told), []);
    told.parts = [balancer([VIP]), { ...partOf('address b'), owner: OTHER, addresses: [FLOATING] }];
    await told.rig.clock.advance(LONG_MS);
    assert.deepEqual(ips(told), [], "another's");
    told.parts = [balancer([VIP, FLOATING])];
    await told.rig.clock.advance(LONG_MS);
    assert.deepEqual(told.rig.api.get('web')?.status?.loadBalancer?.ingress, [{ ip: FLOATING, ipMode: 'VIP' }]);
    const { length } = told.rig.api.patches;
    await told.rig.clock.advance(LONG_MS);
    assert.equal(told.rig.api.patches.length, length);
    await told.rig.stop();
  });
}

test('… and to one whose change fails, but not once it has been served without it', async () => {
  const told = await servedAtFloating();
  const fails = (): void => {
    told.serve = () => ({ ...IDLE, actions: [actionOn('update', 'load-balancer a')] });
    told.apply = () => ({ kind: 'failed', error: new CloudError('quota', 'full') });
  };
  fails();
  told.rig.api.apply('web', { ...webSpec, ports: [{ port: 82, nodePort: 30_082 }] });
  told.parts = [balancer([VIP])];
  await told.rig.clock.advance(LONG_MS);
  assert.deepEqual(ips(told), []);
  told.parts = [balancer([VIP, FLOATING])];
  await told.rig.clock.advance(LONG_MS);
  assert.deepEqual(ips(told), [FLOATING]);
  told.parts = [balancer([VIP])];
  await told.rig.clock.advance(LONG_MS);
  assert.deepEqual(ips(told), []);
  told.serve = () => ({ actions: [], complete: true, ingress: [{ ip: VIP }] });
  await told.rig.clock.advance(LONG_MS);
  assert.deepEqual(ips(told), [VIP]);
  fails();
  told.rig.api.apply('web', { ...webSpec, ports: [{ port: 83, nodePort: 30_083 }] });
  told.parts = [balancer([VIP, FLOATING])];
  await told.rig.clock.advance(LONG_MS);
  assert.deepEqual(ips(told), [VIP]);
  await told.rig.stop();
});

/** Its record is taken off: another program may serve it by now. */
async function letGo(told: Told): Promise<void> {
  const { api, clock } = told.rig;
  const { [loadBalancerOwnerAnnotation]: _, ...annotations } = api.get('web')?.metadata?.annotations ?? {};
  api.apply('web', refusedSpec, { annotations, finalizers: [] });
  await clock.advance(10_000);
}

test('of a Service that is not recorded nothing goes but what its own parts have shown', async () => {
  const told = await refused();
  const { api, clock } = told.rig;
  await letGo(told);
  api.services.put({ ...api.get('web'), status: { loadBalancer: { ingress: [{ ip: SECOND }] } } });
  await clock.advance(LONG_MS);
  assert.deepEqual(ips(told), [SECOND]);
  await told.rig.stop();
});

test('… and that goes with its part, unless the cloud says that the part is there', async () => {
  const address = { ...partOf('address b'), addresses: [FLOATING] };
  for (const isAsked of [true, false]) {
    let answer: PartAnswer = { kind: 'there' };
    const told = await refused((early) => {
      early.parts = [balancer([VIP]), address];
      if (isAsked) early.rig.provider.read = (parts) => Promise.resolve(parts.map(() => answer));
    });
    await letGo(told);
    told.parts = [balancer([VIP])];
    await told.rig.clock.advance(60_000);
    assert.deepEqual(ips(told), [FLOATING]);
    await told.rig.clock.advance(LONG_MS);
    assert.deepEqual(ips(told), isAsked ? [FLOATING] : []);
    answer = { kind: 'absent', proof: 'GET' };
    await told.rig.clock.advance(LONG_MS);
    assert.deepEqual(ips(told), []);
    await told.rig.stop();
  }
});

test('what another has written to the status meanwhile is not undone', async () => {
  const told = await refused();
  const { api, clock } = told.rig;
  told.parts = [balancer([VIP, SECOND])];
  api.before = () => {
    api.before = () => {};
    api.services.put({ ...api.get('web'), status: { loadBalancer: { ingress: [{ ip: FLOATING }, { ip: SECOND }] } } });
  };
  await clock.advance(LONG_MS);
  assert.deepEqual(ips(told), [SECOND]);
  await told.rig.stop();
});

test('a dry run looks no more often for an address that it would take away, and says that it would', async () => {
  const told = await refused();
  await told.rig.stop();
  told.parts = [balancer([VIP])];
  const looks = countLooks(told, 1_000);
  const journal = new Journal({ clock: told.rig.clock, logger: silentLogger, dryRun: true, redact: (text) => text });
  await told.rig.start({}, { journal: journal.of('service-lb-controller') });
  await told.rig.clock.advance(LONG_MS);
  assert.ok(looks() < 20, `${looks()} looks`);
  assert.deepEqual(
    journal.plans().flatMap(({ actions }) => actions.map(({ kind }) => kind)),
    ['write-status'],
  );
  await told.rig.stop();
});
