/** What a cluster asks of AWS in its life, by capability, over the fake: each stage resolves with what came of it, and rejects where it comes to no end. */
import assert from 'node:assert/strict';
import type {
  BackEnd,
  CallContext,
  Capabilities,
  DesiredLoadBalancer,
  LoadBalancers,
  NodeRef,
  ProviderHost,
  Route,
  RouteRequest,
} from '@outrigger/cloud-provider';
import { silentLogger } from '@outrigger/kube';
import type { Fetch } from '@outrigger/provider-kit';
import { FakeClock } from '@outrigger/testing';
import { withJudgedOthers } from '../../../packages/controllers/src/load-balancer/bring-to.ts';
import type { SeededCluster } from '../fake/aws-world.ts';
import { createFakeAws, type FakeAws } from '../fake/fake-aws.ts';
import { createAwsProvider } from './aws-provider.ts';
import { aService } from './load-balancer/annotations/a-service.suite.ts';

type Given = NonNullable<Parameters<typeof aService>[0]>;

const ENV = { AWS_ACCESS_KEY_ID: 'AKIDEXAMPLE', AWS_SECRET_ACCESS_KEY: 'secret', AWS_REGION: 'eu-central-1' };
const CLUSTER = { id: 'uid-of-kube-system', name: 'kubernetes' };
const MOST_ROUNDS = 40;
const HOUR_MS = 3_600_000;
const PORTS = [
  { name: 'http', port: 80, protocol: 'TCP', nodePort: 30_080 },
  { name: 'https', port: 443, protocol: 'TCP', nodePort: 30_443 },
] as const;
const CERTIFICATE = 'arn:aws:acm:eu-central-1:123456789012:certificate/c-1';
/** Topology is told of these alone. */
const TYPE = 'p5.48xlarge';

export class ClusterLife {
  readonly clock: FakeClock = new FakeClock();
  readonly aws: FakeAws = createFakeAws({ clock: this.clock, knobs: { interfaceReleaseMs: 5_000 } });
  readonly cluster: SeededCluster = this.aws.seedCluster({ hasIpv6: true });
  readonly #ended: AbortController = new AbortController();
  #provider: Capabilities | undefined;

  /** Of a region where EC2 does not say the ID of its zone with an instance. */
  readonly #fetch: Fetch = async (url, request) => {
    const answer = await this.aws.fetch(url, request);
    const text = (await answer.text()).replaceAll(/<availabilityZoneId>[^<]*<\/availabilityZoneId>/gu, '');
    return { ...answer, text: () => Promise.resolve(text) };
  };

  /** A new one for each call of the contract, as the host gives them. */
  get call(): CallContext {
    const { signal } = this.#ended;
    return { signal, priority: 'normal', logger: silentLogger, call: (_operation, send) => send(signal) };
  }

  /** A new process, which knows nothing of before. */
  async start(): Promise<void> {
    this.aws.metadata.instanceId = this.cluster.instances[0]?.id ?? '';
    const host: ProviderHost = {
      cluster: CLUSTER,
      clock: this.clock,
      config: { fileName: 'aws.conf', text: '[Global]\nNodeTags = team=infra\n' },
      logger: silentLogger,
      callContext: () => this.call,
      capabilitiesChanged: () => undefined,
      redact: () => undefined,
    };
    this.#provider = await createAwsProvider({ env: ENV, fetch: this.#fetch }).open(host);
  }

  end(): void {
    this.#ended.abort();
  }

  get provider(): Capabilities {
    assert.ok(this.#provider);
    return this.#provider;
  }

  nodes(): readonly NodeRef[] {
    return this.cluster.instances.map(({ id, privateDnsName: name }) => this.node(id, name));
  }

  node(id: string, name: string): NodeRef {
    return { name, uid: `uid-${id}`, providerID: `aws:///eu-central-1a/${id}`, labels: {}, annotations: {} };
  }

  /** As the host does it, until nothing is left to do. */
  async bring(given: Given, nodes: readonly NodeRef[], wanted = true): Promise<void> {
    const { loadBalancers } = this.provider;
    assert.ok(loadBalancers);
    const service = aService(given);
    const backEnds = nodes.map((node): BackEnd => ({ node, addresses: [] }));
    const desired = { service, wanted, owner: { clusterId: CLUSTER.id, uid: service.uid }, backEnds };
    for (let round = 0; round < MOST_ROUNDS; round++) {
      const { actions, complete, refused } = await this.#plan(loadBalancers, desired);
      if (refused) throw refused;
      if (actions.length === 0 && complete) return;
      await this.clock.advance(2_000);
      for (const action of actions) {
        const result = await loadBalancers.apply(action, desired, this.call);
        if (result.kind === 'failed') throw result.error;
        if (result.kind === 'pending') await this.clock.advance(result.pollAfterMs);
      }
    }
    throw new Error('it comes to no end');
  }

  /** With the host's word on what the Service names. */
  async #plan(loadBalancers: LoadBalancers, desired: DesiredLoadBalancer): Promise<ReturnType<LoadBalancers['plan']>> {
    const [seen] = await loadBalancers.observe([desired.service], this.call);
    if (seen?.kind !== 'parts') throw seen?.error ?? new Error('no answer');
    return loadBalancers.plan(withJudgedOthers({}, desired, seen), seen.parts);
  }
}

export type Stage = (life: ClusterLife) => Promise<unknown>;

/** Nodes by ID and by name, their zone IDs and their place in the network, and pods of Fargate. */
const nodes: Stage = async (life) => {
  const { instances } = life.provider;
  assert.ok(instances);
  const follow = async (): Promise<void> => {
    for await (const _hint of instances.changes?.(life.call) ?? assert.fail('no hints'));
  };
  follow().catch(() => undefined);
  const [subnetId = ''] = life.cluster.privateSubnets;
  const far = life.aws.addInstance({ subnetId, groupIds: [], type: TYPE, networkNodes: ['nn-1', 'nn-2'] });
  const pod = life.aws.addFargatePod({ subnetId });
  const name = `fargate-ip-${pod.privateIps[0]?.replaceAll('.', '-')}.eu-central-1.compute.internal`;
  const asked = [...life.nodes(), life.node(far.id, far.privateDnsName), life.node(name, name)];
  await instances.lookUp(asked, 'metadata', life.call);
  for (let second = 0; second < 5; second++) await life.clock.advance(1_000);
  const answers = await instances.lookUp(asked, 'metadata', life.call);
  return answers.map(({ result }) => {
    assert.equal(result.kind, 'found');
    return result;
  });
};

/** Its settings of all kinds are changed in place, by a process that finds it as it is; then it goes. */
const networkLoadBalancer: Stage = async (life) => {
  const { aws, cluster } = life;
  const [first, ...others] = life.nodes();
  const granted = { 'outrigger.dev/namespaces': 'shop' };
  const extra = aws.addSecurityGroup({ vpcId: cluster.vpcId, name: 'extra', tags: granted });
  const addresses = cluster.publicSubnets.map(() => aws.addAddress({ tags: granted }).allocationId);
  const base: Given = { ports: PORTS, set: { type: 'nlb', tags: 'team=shop', eipAllocations: addresses.join() } };
  await life.bring(base, life.nodes());
  const made = aws.account.balancers.all().length;
  await life.bring(base, life.nodes(), false);

  const internal = { type: 'nlb', internal: 'true' };
  const [oneSubnet = ''] = cluster.privateSubnets;
  await life.bring({ ports: PORTS, set: { ...internal, tags: 'team=shop', subnets: oneSubnet } }, life.nodes());
  const changed: Given = {
    ports: PORTS,
    ipFamilies: ['IPv4', 'IPv6'],
    ipFamilyPolicy: 'RequireDualStack',
    sourceRanges: ['203.0.113.0/24'],
    set: {
      ...internal,
      extraSecurityGroups: extra,
      certificate: CERTIFICATE,
      tlsPorts: '443',
      crossZone: 'true',
      targetGroupAttributes: 'preserve_client_ip.enabled=false',
      healthInterval: '20',
    },
  };
  await life.start();
  await life.bring(changed, others);
  const [there] = aws.account.balancers.all();
  const groups = aws.account.targetGroups.all();
  assert.ok(there);
  // What another hand has changed is found within two hours, and set back.
  const crossZone = 'load_balancing.cross_zone.enabled';
  aws.account.balancers.seed({ ...there, attributes: { ...there.attributes, [crossZone]: 'false' } });
  const delay = 'deregistration_delay.timeout_seconds';
  for (const one of groups) aws.account.targetGroups.seed({ ...one, attributes: { ...one.attributes, [delay]: '7' } });
  await life.clock.advance(2 * HOUR_MS);
  await life.bring({ ...changed, ports: PORTS.slice(0, 1) }, [first!]);
  const [after] = aws.account.balancers.all();
  const delays = aws.account.targetGroups.all().map(({ attributes }) => attributes[delay]);
  const outcome = [made, after?.attributes[crossZone], delays, targetsOf(life)];
  await life.clock.advance(HOUR_MS);
  await life.bring(changed, [], false);
  return [outcome, left(life)];
};

const classicLoadBalancer: Stage = async (life) => {
  const { aws, cluster } = life;
  const [first, ...others] = life.nodes();
  const extra = aws.addSecurityGroup({
    vpcId: cluster.vpcId,
    name: 'extra',
    tags: { 'outrigger.dev/namespaces': 'shop' },
  });
  const [oneSubnet = ''] = cluster.publicSubnets;
  await life.bring({ ports: PORTS, set: { tags: 'team=shop', subnets: oneSubnet } }, life.nodes());
  await life.start();
  const changed: Given = {
    ports: PORTS,
    set: {
      extraSecurityGroups: extra,
      subnets: cluster.publicSubnets[1] ?? '',
      certificate: CERTIFICATE,
      tlsPorts: '443',
      tlsPolicy: 'ELBSecurityPolicy-TLS-1-2-2017-01',
      backendProtocol: 'http',
      proxyProtocol: '*',
      idleTimeout: '120',
      healthInterval: '20',
    },
  };
  await life.bring(changed, others);
  const renewed: Given = { ...changed, set: { ...changed.set, certificate: `${CERTIFICATE}2` } };
  await life.bring(renewed, [first!]);
  const [there] = aws.account.classics.all();
  assert.ok(there);
  await life.bring(renewed, [], false);
  return [there.instanceIds.length, there.attributes, there.health, left(life)];
};

/** One takes the place of the other. */
const fromNetworkToClassic: Stage = async (life) => {
  await life.bring({ ports: PORTS, set: { type: 'nlb' } }, life.nodes());
  await life.bring({ ports: PORTS }, life.nodes());
  await life.bring({ ports: PORTS }, [], false);
  return left(life);
};

const routes: Stage = async (life) => {
  const { routes: own } = life.provider;
  assert.ok(own);
  const to = ({ id, privateDnsName }: { readonly id: string; readonly privateDnsName: string }): RouteRequest => ({
    node: life.node(id, privateDnsName),
    addresses: [],
    destination: '10.244.1.0/24',
  });
  const [a, b] = life.cluster.instances;
  assert.ok(a && b);
  const all = async (): Promise<readonly Route[]> => {
    const listed = (await (life.provider.routes ?? own).list(life.call)).routes;
    return listed.filter(({ destination }) => destination === '10.244.1.0/24');
  };
  const done = (results: readonly { readonly kind: string; readonly error?: Error }[]): void => {
    for (const { error } of results) if (error) throw error;
  };
  done(await own.create([to(a)], life.call));
  await life.start();
  const [there] = await all();
  assert.ok(there);
  done(await own.create([{ ...to(b), replaces: [{ ...there, ownership: 'owned' }] }], life.call));
  const [moved] = await all();
  assert.ok(moved);
  done(await own.delete([{ ...moved, ownership: 'owned' }], life.call));
  return [moved.targetProviderID?.endsWith(b.id), (await all()).length];
};

const volumes: Stage = async (life) => {
  const handle = life.aws.addVolume({ zone: 'eu-central-1a' });
  const asked = [{ name: 'v', uid: 'v', source: 'awsElasticBlockStore' as const, handle }];
  return life.provider.volumes?.lookUp(asked, life.call);
};

const nodeTags: Stage = async (life) => {
  const { id = '' } = life.cluster.instances[0] ?? {};
  const results = await life.provider.nodeTags?.put([life.node(id, 'a')], life.call);
  for (const result of results ?? []) if (result.kind === 'failed') throw result.error;
  return life.aws.account.instances.get(id)?.tags['team'];
};

/** Each runs in an account of its own. */
export const stages: Readonly<Record<string, readonly Stage[]>> = {
  instances: [nodes],
  loadBalancers: [networkLoadBalancer, classicLoadBalancer, fromNetworkToClassic],
  routes: [routes],
  volumes: [volumes],
  nodeTags: [nodeTags],
};

function targetsOf({ aws: { account } }: ClusterLife): readonly number[] {
  return account.targetGroups
    .all()
    .map(({ id }) => account.targets.of(id).filter((one) => one.drainsUntil === undefined).length);
}

/** Of what was made; rules that let nobody in any more, too. */
function left({ aws: { account }, cluster }: ClusterLife): Readonly<Record<string, number>> {
  const { balancers, classics, groups, listeners, rules, targetGroups } = account;
  return {
    balancers: balancers.all().length + classics.all().length,
    listeners: listeners.all().length,
    targetGroups: targetGroups.all().length,
    groups: groups.all().length,
    rules: rules.all().filter(({ groupId, isEgress }) => groupId === cluster.nodeGroupId && !isEgress).length,
  };
}
