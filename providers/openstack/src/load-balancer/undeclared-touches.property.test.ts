/** Services that name what is another namespace's, at any time: each plan says what it uses, which `Rig.pass` judges. */
import { strict as assert } from 'node:assert';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { isCloudError, type LoadBalancerService } from '@outrigger/cloud-provider';
import { annotationTable } from './desired/annotation-table.ts';
import { annotated, portOf } from './desired/tree-inputs.suite.ts';
import { Rig, served, serviceNamed } from './rig.suite.ts';

const NAMESPACES = { a: 'team-a', b: 'team-b' } as const;
const SERVICES = { a1: 'a', a2: 'a', b1: 'b' } as const;
const BALANCER = annotationTable.loadBalancerId.name;
const NOWHERE = '00000000-0000-4000-8000-00000000dead';

type Whose = keyof typeof NAMESPACES;
/** `nobody`: there is no such thing. `B`: in capitals. */
type Named = Whose | 'nobody' | 'B';
const KINDS = {
  portId: 'port',
  networkId: 'network',
  subnetId: 'subnet',
  memberSubnetId: 'subnet',
  floatingNetworkId: 'network',
} as const;

type Key = keyof typeof KINDS;

/** How a Service is from now on. */
interface Step {
  readonly service: keyof typeof SERVICES;
  readonly names?: Readonly<Partial<Record<Key, Named>>>;
  /** Default: as it is. */
  readonly loadBalancer?: keyof typeof SERVICES | 'nobody' | 'none';
  readonly address?: Whose;
  readonly internal?: boolean;
  readonly ports?: number;
  readonly nodes?: number;
}

/** By kind: how often it was said. */
const said = new Map<string, number>();

async function live(steps: readonly Step[], serial = false): Promise<void> {
  const rig = await Rig.open({ loadBalancer: { providerRequiresSerialApiCalls: serial, maxSharedLb: 3 } });
  const things = { a: thingsOf(rig, 'a'), b: thingsOf(rig, 'b') };
  const nodes = [...rig.backEnds, rig.addNode('node-3')];
  const services = new Map<string, LoadBalancerService>();
  for (const { address, internal = false, loadBalancer, names, nodes: count = 2, ports = 1, service: name } of steps) {
    rig.backEnds = nodes.slice(0, count);
    const before = services.get(name);
    const nameOf = (key: Key): string => {
      const whose = names?.[key] ?? 'nobody';
      if (whose === 'nobody') return NOWHERE;
      return whose === 'B' ? things.b[KINDS[key]].toUpperCase() : things[whose][KINDS[key]];
    };
    const balancerOf = (which = name): string | undefined => services.get(which)?.annotations[BALANCER];
    const id = loadBalancer === 'nobody' ? NOWHERE : loadBalancer === 'none' ? undefined : balancerOf(loadBalancer);
    // The keys are the table's own.
    const keys = Object.keys(names ?? {}) as Key[];
    const service: LoadBalancerService = {
      ...serviceNamed(name, { namespace: NAMESPACES[SERVICES[name]], ingress: before?.ingress ?? [] }),
      annotations: annotated({
        ...Object.fromEntries(keys.map((key) => [key, nameOf(key)])),
        internal: String(internal),
        ...(id !== undefined && { loadBalancerId: id }),
      }),
      ports: Array.from({ length: ports }, (_, i) => portOf({ a1: 80, a2: 90, b1: 100 }[name] + i)),
      ...(address && { requestedIP: things[address].address }),
    };
    services.set(name, await settled(rig, service));
  }
}

/** Of one namespace, by its tag; the floating IP is free. The one on the port of `b` is nobody's. */
function thingsOf({ cloud, seeded }: Rig, whose: Whose) {
  const { floatingIps, networks, ports, routers } = cloud.networking;
  const tags = [`outrigger-namespace=${NAMESPACES[whose]}`];
  const its = { name: whose, project_id: seeded.project.id, tags };
  const network = networks.addNetwork(its);
  const subnet = networks.addSubnet(network, { ...its, cidr: `10.77.${whose === 'a' ? 1 : 2}.0/24` });
  routers.add({ ...its, external: seeded.publicNetwork, subnets: [subnet] });
  const port = ports.add({ ...its, network_id: network.id });
  const inPublic = { ...its, floating_network_id: seeded.publicNetwork.id };
  if (whose === 'b') floatingIps.add({ ...inPublic, port_id: port.id });
  const floatingIP = floatingIps.add(inPublic);
  floatingIps.floatingIps.change(floatingIP.id, { tags });
  return { network: network.id, subnet: subnet.id, port: port.id, address: floatingIP.floating_ip_address };
}

/** As the host leaves it; what the cloud or the program refuses stays as it is. */
async function settled(rig: Rig, service: LoadBalancerService): Promise<LoadBalancerService> {
  for (let pass = 0; pass < 15; pass++) {
    try {
      const plan = await rig.pass(rig.desired(service), ({ touches = [] }) => {
        for (const { kind } of touches) said.set(kind, (said.get(kind) ?? 0) + 1);
      });
      if (plan.refused) return service;
      if (plan.complete) return served(service, plan);
    } catch (error) {
      if (!isCloudError(error)) throw error;
      if (!isCloudError(error, 'retry-after')) return service;
    }
    await rig.clock.sleep(10_000);
  }
  return service;
}

for (const key of ['portId', 'networkId', 'subnetId'] as const) {
  test(`${key} of another’s, on leaving a load balancer that was shared`, () =>
    live([
      { service: 'a1' },
      { service: 'a2', loadBalancer: 'a1' },
      { service: 'a2', loadBalancer: 'none', names: { [key]: 'b' } },
    ]));
}

for (const key of ['memberSubnetId', 'subnetId'] as const) {
  const names = { [key]: 'b' } as const;
  for (const serial of [false, true]) {
    const how = serial ? ', one by one' : '';
    test(`${key} of another’s, with a further port${how}`, () =>
      live([{ service: 'a1' }, { service: 'a1', names, ports: 2 }], serial));
    test(`${key} of another’s, with a further node${how}`, () =>
      live([{ service: 'a1' }, { service: 'a1', names, nodes: 3 }], serial));
    test(`${key} of another’s, on joining a load balancer${how}`, () =>
      live([{ service: 'a1' }, { service: 'a2', loadBalancer: 'a1', names }], serial));
  }
}

for (const serial of [false, true]) {
  test(`what is the namespace’s own is said too${serial ? ', one by one' : ''}`, async () => {
    said.clear();
    for (const key of ['portId', 'networkId', 'subnetId', 'memberSubnetId'] as const) {
      const first: Step = { service: 'a1', names: { [key]: 'a' } };
      await live([first, { ...first, ports: 2 }], serial);
    }
    const asks: Step = { service: 'a1', address: 'a' };
    await live([asks, { service: 'a2', loadBalancer: 'a1' }], serial);
    assert.deepEqual([...said.keys()].toSorted(), ['floating-ip', 'load-balancer', 'network', 'port', 'subnet']);
  });
}

const edit = fc.oneof(
  {
    weight: 3,
    arbitrary: fc
      .tuple(fc.constantFrom(...(Object.keys(KINDS) as Key[])), fc.constantFrom<Named[]>('a', 'b', 'b', 'B', 'nobody'))
      .map((one): Partial<Step> => ({ names: Object.fromEntries([one]) })),
  },
  {
    weight: 3,
    arbitrary: fc.record({ loadBalancer: fc.constantFrom('a1', 'a1', 'a1', 'b1', 'none', 'none', 'none', 'nobody') }),
  },
  { weight: 1, arbitrary: fc.record({ address: fc.constantFrom('a', 'b') }) },
  { weight: 1, arbitrary: fc.constant({ internal: true }) },
  { weight: 1, arbitrary: fc.constant({ ports: 2 }) },
  { weight: 1, arbitrary: fc.record({ nodes: fc.constantFrom(1, 3) }) },
);
// Of many at a time, one that is refused would hide the others.
const step = fc
  .tuple(fc.constantFrom('a1', 'a1', 'a2', 'a2', 'a2', 'b1'), fc.array(edit, { minLength: 1, maxLength: 2 }))
  .map(([service, edits]): Step => Object.assign({ service }, ...edits) as Step);

test('property: whatever Services name, and when, each plan says what it uses of others', () =>
  fc.assert(fc.asyncProperty(fc.array(step, { minLength: 3, maxLength: 6 }), fc.boolean(), live), {
    numRuns: Number(process.env['PROPERTY_RUNS'] ?? 60),
  }));
