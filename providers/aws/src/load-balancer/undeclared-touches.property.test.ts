/** Services that name what is another namespace's, at any time, and nodes that name machines of others: each plan says what its requests use. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { isCloudError, type DesiredLoadBalancer } from '@outrigger/cloud-provider';
import { checkPlan } from '../../../../packages/controllers/src/load-balancer/check-plan.ts';
import { withJudgedOthers } from '../../../../packages/controllers/src/load-balancer/bring-to.ts';
import { aService } from './annotations/a-service.suite.ts';
import type { AnnotationKey } from './annotations/annotation-rows.ts';
import { FakeRig } from './fake-rig.suite.ts';
import { GRANT_TAG } from './grants.ts';
import { Ground } from './undeclared-touches.suite.ts';

const NAMESPACES = { a: 'team-a', b: 'team-b' } as const;
const SERVICES = { a1: 'a', a2: 'a', b1: 'b' } as const;
const UIDS = { a1: '1', a2: '2', b1: '3' } as const;
const CLUSTER = 'kubernetes';

type Type = 'nlb' | 'clb';
/** `plain`: nobody is allowed it. `cluster`: the subnet of the cluster, the group of its nodes. `b1`: the security group of that Service. */
type Whose = keyof typeof NAMESPACES | 'plain' | 'cluster' | 'b1' | 'nobody';
const KEYS = ['subnets', 'securityGroups', 'extraSecurityGroups', 'eipAllocations'] as const;
type Key = (typeof KEYS)[number];

/** How a Service is from now on. */
interface Step {
  readonly service: keyof typeof SERVICES;
  /** Default: `nlb`. */
  readonly type?: Type;
  readonly names?: Readonly<Partial<Record<Key, Whose>>>;
  /** One subnet, by the value of its tag `Name`. */
  readonly byName?: boolean;
  readonly internal?: boolean;
  readonly ports?: number;
  readonly nodes?: number;
  /** Its nodes name instances of others too. */
  readonly hasStrangers?: boolean;
  readonly tags?: boolean;
  readonly gone?: boolean;
  /** Its load balancer is cloud-provider-aws' before. */
  readonly isPredecessors?: boolean;
  /** Another process; and the answer to one of its next writes is lost. */
  readonly restarted?: boolean;
  readonly loses?: number;
}

interface Cloud {
  readonly lagMs: number;
  readonly provisioningMs: number;
  /** In place of a group for each Classic Load Balancer. */
  readonly hasElbGroup: boolean;
}

const QUICK: Cloud = { lagMs: 0, provisioningMs: 0, hasElbGroup: false };

/** By kind: how often it was said. */
const said = new Map<string, number>();

/** The cluster is in two zones; in the third one, only `b` has a subnet. */
class Site {
  readonly rig: FakeRig;
  readonly things: Readonly<Record<Whose, Readonly<Record<Key, string>>>>;
  readonly strangers: readonly string[];
  readonly #text: string;
  readonly #config: readonly string[];

  constructor({ hasElbGroup, lagMs, provisioningMs }: Cloud) {
    const rig = new FakeRig({ knobs: { elbLagMs: lagMs, ec2LagMs: lagMs, provisioningMs } }, 4);
    const { aws, vpcId } = rig;
    this.rig = rig;
    const group = (name: string, tags = {}): string => aws.addSecurityGroup({ vpcId, name, tags });
    const things = (name: string, zone: number, tags = {}): Readonly<Record<Key, string>> => {
      const at = { vpcId, zone: `${aws.account.zones[zone]?.name}`, cidr: `10.0.${240 + zone}.0/24` };
      const subnets = aws.addSubnet({ ...at, tags: { Name: name, ...tags } });
      aws.addRouteTable({ vpcId, subnetIds: [subnets], internetGatewayId: 'igw-0123456789abcdef0' });
      const { allocationId: eipAllocations } = aws.addAddress({ tags });
      return {
        subnets,
        securityGroups: group(name, tags),
        extraSecurityGroups: group(`${name}-extra`, tags),
        eipAllocations,
      };
    };
    const [first = ''] = aws.account.subnets
      .all()
      .flatMap(({ id, tags }) => ('kubernetes.io/role/elb' in tags ? id : []));
    const nodes = aws.account.groups.all().find(({ name }) => name === `${CLUSTER}-nodes`)?.id ?? '';
    const nobodys = { securityGroups: 'sg-0123456789abcdef0', extraSecurityGroups: 'sg-0123456789abcdef1' };
    const nobody = { ...nobodys, subnets: 'subnet-0123456789abcdef0', eipAllocations: 'eipalloc-0123456789abcdef0' };
    this.things = {
      a: things('a', 0, { [GRANT_TAG]: NAMESPACES.a }),
      b: things('b', 2, { [GRANT_TAG]: NAMESPACES.b }),
      plain: things('plain', 1, { 'kubernetes.io/cluster/other': 'owned' }),
      cluster: { ...nobody, subnets: first, securityGroups: nodes, extraSecurityGroups: nodes },
      b1: nobody,
      nobody,
    };
    const subnetId = aws.account.instances.get(rig.instances[0] ?? '')?.subnetId ?? '';
    const [db, web] = [group('db'), group('web')];
    this.strangers = [[db, web], [db]].map((groupIds) => aws.addInstance({ subnetId, groupIds }).id);
    this.#config = hasElbGroup ? [group('of-the-config')] : [];
    const elb = this.#config.map((id) => `ElbSecurityGroup = ${id}\n`).join('');
    this.#text = `[Global]\nKubernetesClusterID = ${CLUSTER}\nVPC = ${vpcId}\n${elb}`;
    this.restart();
  }

  restart(): void {
    this.rig.started(this.#text);
  }

  desired({ gone = false, hasStrangers = false, nodes = 2, service: name, ...step }: Step): DesiredLoadBalancer {
    const { byName = false, internal = false, names = {}, ports = 1, tags = false, type = 'nlb' } = step;
    const uid = `${UIDS[name]}a1b2c3d-0000-4000-8000-00000000000e`;
    const set: Partial<Record<AnnotationKey, string>> = {
      type,
      ...(internal && { internal: 'true' }),
      ...(tags && { tags: `a=${this.things.b.securityGroups}` }),
    };
    for (const key of KEYS) {
      const whose = names[key];
      if (whose === undefined) continue;
      const id = whose === 'b1' ? this.#groupOf('b1') : this.things[whose][key];
      set[key] = byName && key === 'subnets' && ['a', 'b', 'plain'].includes(whose) ? whose : id;
    }
    const service = aService({
      set,
      uid,
      name,
      namespace: NAMESPACES[SERVICES[name]],
      ports: Array.from({ length: ports }, (_, i) => ({
        name: `p${i}`,
        port: 80 + i,
        protocol: 'TCP',
        nodePort: 30_000 + Number(UIDS[name]) * 100 + i,
      })),
    });
    const machines = [...this.rig.instances.slice(0, nodes), ...(hasStrangers ? this.strangers : [])];
    return this.rig.desired(service, gone ? [] : machines, !gone);
  }

  /** As the host leaves it; what AWS or the program refuses stays as it is. */
  async settle(goal: DesiredLoadBalancer): Promise<void> {
    const { clock } = this.rig;
    for (let pass = 0; pass < 20; pass++) {
      let waitMs = 2_000;
      try {
        const next = await this.#pass(goal);
        if (next === 'over') return;
        waitMs = next;
      } catch (error) {
        if (!isCloudError(error)) throw error;
        waitMs = 30_000;
      }
      await clock.advance(waitMs);
    }
  }

  async #pass(goal: DesiredLoadBalancer): Promise<'over' | number> {
    const { aws, balancers, call, vpcId } = this.rig;
    const [seen] = await balancers.observe([goal.service], call);
    assert.ok(seen);
    if (seen.kind === 'failed') throw seen.error;
    const { parts } = seen;
    const desired = withJudgedOthers({}, goal, seen);
    const wish = balancers.plan(desired, parts);
    const plan = (wish.refused && balancers.planMembers?.(desired, parts)) || wish;
    checkPlan(plan, desired, parts);
    for (const action of plan.actions) {
      for (const { kind } of action.touches ?? []) said.set(kind, (said.get(kind) ?? 0) + 1);
      const ground = new Ground({ aws, clusterName: CLUSTER, vpcId, config: this.#config }, desired);
      aws.calls.clear();
      try {
        const result = await balancers.apply(action, desired, call);
        if (result.kind === 'pending') return result.pollAfterMs;
        if (result.kind === 'failed') throw result.error;
      } finally {
        ground.assertTouchesDeclared(action, parts, aws.calls.all());
      }
    }
    return plan.actions.length === 0 && (wish.complete === true || wish.refused !== undefined) ? 'over' : 2_000;
  }

  /** Without what says whose they are, its things are those of cloud-provider-aws. */
  disown({ service: { uid } }: DesiredLoadBalancer): void {
    const { balancers, classics, groups, targetGroups } = this.rig.aws.account;
    const stripped = <T extends { readonly tags: Readonly<Record<string, string>> }>(thing: T): T => ({
      ...thing,
      tags: Object.fromEntries(Object.entries(thing.tags).filter(([key]) => !key.startsWith('outrigger.dev/'))),
    });
    for (const store of [balancers, classics, groups, targetGroups] as const) {
      for (const one of store.all()) if (one.tags['outrigger.dev/owner'] === uid) store.seed(stripped(one) as never);
    }
    this.restart();
  }

  #groupOf(name: keyof typeof SERVICES): string {
    const { uid } = this.desired({ service: name }).service;
    const own = this.rig.aws.account.groups.all().find(({ tags }) => tags['outrigger.dev/owner'] === uid);
    return own?.id ?? this.things.nobody.securityGroups;
  }
}

async function live(steps: readonly Step[], cloud: Cloud = QUICK): Promise<Site> {
  const site = new Site(cloud);
  for (const step of steps) {
    const desired = site.desired(step);
    if (step.isPredecessors) site.disown(desired);
    if (step.restarted) site.restart();
    if (step.loses !== undefined) site.rig.fault = { after: step.loses, takesEffect: step.loses % 2 === 0 };
    await site.settle(desired);
  }
  assert.deepEqual(site.rig.aws.takeProblems(), []);
  return site;
}

const usedBy = ({ rig, things }: Site, whose: Whose): readonly string[] => {
  const { balancers, classics } = rig.aws.account;
  const text = JSON.stringify([balancers.all(), classics.all()]);
  return KEYS.filter((key) => text.includes(`"${things[whose][key]}"`));
};

for (const type of ['nlb', 'clb'] as const) {
  const other = type === 'nlb' ? 'clb' : 'nlb';
  for (const key of KEYS) {
    const named: Step = { service: 'a1', type, names: { subnets: 'cluster', [key]: 'b' } };
    for (const [when, steps] of [
      ['at once', []],
      ['of a load balancer that is there', [{ service: 'a1', type }]],
      ['in place of one of its own', [{ ...named, names: { subnets: 'cluster', [key]: 'a' } }]],
      ['with another kind of load balancer', [{ service: 'a1', type: other }]],
      [
        'while another namespace’s Service has it',
        [{ service: 'b1', type, names: { subnets: 'cluster', [key]: 'b' } }],
      ],
    ] as const) {
      test(`${type}: ${key} of another’s, ${when}`, async () => {
        const site = await live([...steps, named, { ...named, ports: 2, nodes: 3 }]);
        if (when.startsWith('while')) return;
        assert.deepEqual(usedBy(site, 'b'), []);
      });
    }
  }

  test(`${type}: what is the namespace’s own is said too, and used`, async () => {
    said.clear();
    const keys = KEYS.filter((key) => type === 'nlb' || key !== 'eipAllocations');
    const names = Object.fromEntries(keys.map((key) => [key, 'a']));
    const first = { service: 'a1', type, names: { ...names, securityGroups: undefined } } as unknown as Step;
    assert.deepEqual(
      usedBy(await live([first]), 'a'),
      keys.filter((key) => key !== 'securityGroups'),
    );
    const second: Step = { service: 'a1', type, names: { securityGroups: 'a' } };
    assert.deepEqual(usedBy(await live([second]), 'a'), ['securityGroups']);
    const kinds = [...(type === 'nlb' ? ['elastic-ip'] : []), 'security-group', 'subnet'];
    assert.deepEqual([...said.keys()].toSorted(), kinds);
  });
}

test('a rule of others that comes into the group of the nodes, or goes, is noticed', async () => {
  const site = await live([{ service: 'a1' }]);
  const { aws, balancers, call, client, vpcId } = site.rig;
  const more = site.desired({ service: 'a1', ports: 2 });
  const parts = await site.rig.parts(more.service);
  const [action] = balancers.plan(more, parts).actions;
  assert.ok(action);
  const IpPermissions = [{ IpProtocol: 'tcp', FromPort: 22, ToPort: 22, IpRanges: [{ CidrIp: '192.0.2.0/24' }] }];
  const rule = { GroupId: site.things.cluster.securityGroups, IpPermissions };
  for (const operation of ['AuthorizeSecurityGroupIngress', 'RevokeSecurityGroupIngress'] as const) {
    const ground = new Ground({ aws, clusterName: CLUSTER, vpcId }, more);
    aws.calls.clear();
    ground.assertTouchesDeclared(action, parts, []);
    await client.ec2(call, operation, rule);
    assert.throws(() => ground.assertTouchesDeclared(action, parts, aws.calls.all()), /changes rules of others/u);
  }
});

const whose = fc.constantFrom<Whose[]>('a', 'a', 'b', 'b', 'plain', 'cluster', 'b1', 'nobody');
const edit = fc.oneof(
  {
    weight: 6,
    arbitrary: fc
      .dictionary(fc.constantFrom<Key[]>(...KEYS), whose, { minKeys: 1, maxKeys: 2 })
      .map((names) => ({ names })),
  },
  { weight: 2, arbitrary: whose.map((one) => ({ names: { subnets: one, eipAllocations: one }, byName: true })) },
  { weight: 1, arbitrary: fc.constant({ internal: true }) },
  { weight: 1, arbitrary: fc.constant({ ports: 2 }) },
  { weight: 1, arbitrary: fc.record({ nodes: fc.constantFrom(0, 1, 3), hasStrangers: fc.boolean() }) },
  { weight: 1, arbitrary: fc.constant({ tags: true }) },
  { weight: 1, arbitrary: fc.constant({ gone: true }) },
  { weight: 1, arbitrary: fc.constant({ isPredecessors: true }) },
  { weight: 1, arbitrary: fc.constant({ restarted: true }) },
  { weight: 1, arbitrary: fc.nat({ max: 8 }).map((loses) => ({ loses })) },
);
// Of many at a time, one that is refused would hide the others.
const step = fc
  .tuple(
    fc.constantFrom<Step['service'][]>('a1', 'a1', 'a1', 'a2', 'b1'),
    fc.constantFrom<Type[]>('nlb', 'clb'),
    fc.array(edit, { minLength: 1, maxLength: 2 }),
  )
  .map(([service, type, edits]): Step => Object.assign({ service, type }, ...edits) as Step);
const cloud = fc.record({
  lagMs: fc.constantFrom(0, 3_000),
  provisioningMs: fc.constantFrom(0, 60_000),
  hasElbGroup: fc.boolean(),
});

test('property: whatever Services and nodes name, and when, requests use what is theirs, the cluster’s, or said', () =>
  fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 3, maxLength: 6 }), cloud, async (steps, options) => {
      await live(steps, options);
    }),
    { numRuns: Number(process.env['PROPERTY_RUNS'] ?? 60) },
  ));
