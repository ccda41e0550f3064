/** Load balancers on the stub of ELBv2, with a security group that costs nothing. */
import assert from 'node:assert/strict';
import {
  CloudError,
  type BackEnd,
  type CallContext,
  type DesiredLoadBalancer,
  type LoadBalancerPart,
  type LoadBalancerPlan,
  type LoadBalancerService,
  type Owner,
} from '@outrigger/cloud-provider';
import type { ListedPart, PartKind } from '@outrigger/provider-kit';
import { FakeClock } from '@outrigger/testing';
import { AwsLoadBalancers } from '../aws-load-balancers.ts';
import { bringToItsEnd } from '../bring-to-its-end.suite.ts';
import { SECURITY_GROUP, type BackEndAccess, type KindSetup } from '../frame.ts';
import type { NodeRules } from '../security-groups/node-rules.ts';
import { Elbv2Stub } from './elbv2-stub.suite.ts';

const CLUSTER = 'cluster-uid';
const CLUSTER_TAGS = { 'kubernetes.io/cluster/test': 'owned' };
export const UID = '0f1e2d3c-4b5a-6978-8796-a5b4c3d2e1f0';

export class NlbRig {
  readonly clock: FakeClock = new FakeClock();
  readonly elbv2: Elbv2Stub = new Elbv2Stub(this.clock);
  /** Instances that were let in. */
  readonly opened: Set<string> = new Set();
  /** Instances that cannot be let in: no rule is taken. */
  readonly closed: Set<string> = new Set();
  /** Instances of which it is not clear which group is the node's. */
  readonly unclear: Set<string> = new Set();
  /** EC2 answers nothing. */
  unreachable = false;
  /** By names of load balancers that nodes let in as cloud-provider-aws does it. */
  readonly nodeRules: Map<string, NodeRules> = new Map();
  readonly groups: Map<string, Owner> = new Map();
  subnets: readonly string[] = ['subnet-1', 'subnet-2'];
  balancers: AwsLoadBalancers;

  constructor() {
    this.balancers = this.started();
  }

  /** Another process, which knows nothing of what the one before has done. */
  started(): AwsLoadBalancers {
    const access: BackEndAccess = {
      releaseShared: () => Promise.resolve(true),
      usesShared: true,
      sharedId: 'sg-5a4ed',
      useShared: (use) => use('sg-5a4ed'),
      open: (_group, ids) => {
        if (this.unreachable) return Promise.reject(new CloudError('unavailable', 'EC2 does not answer'));
        const refused = new Set(ids.filter((id) => this.closed.has(id)));
        const instances = new Set(ids.filter((id) => refused.has(id) || this.unclear.has(id)));
        for (const id of ids) if (!instances.has(id)) this.opened.add(id);
        const error = new CloudError('conflict', 'the group has no tag');
        return Promise.resolve(instances.size > 0 ? { instances, error, refused } : undefined);
      },
      learn: () => Promise.resolve(),
      learnRules: () => Promise.resolve(),
      isOpen: (_group, ids) => ids.every((id) => this.opened.has(id) || this.unclear.has(id)),
      rulesFor: (name) => {
        const rules = Object.keys(this.nodeRules.get(name) ?? {});
        return { everywhere: rules, own: rules };
      },
      setRules: (name, rules) => {
        this.nodeRules.set(name, rules);
        return Promise.resolve(undefined);
      },
      clearRules: (name) => {
        this.nodeRules.delete(name);
        return Promise.resolve();
      },
      hasCleared: (name) => !this.nodeRules.has(name),
      hasOwnGroup: () => false,
      spreadRules: (name) => Promise.resolve(Object.keys(this.nodeRules.get(name) ?? {}).length > 0),
    };
    this.balancers = new AwsLoadBalancers({
      name: 'aws',
      client: this.elbv2.client,
      config: () => ({}),
      host: { clock: this.clock, cluster: { id: CLUSTER, name: 'test' } },
      access,
      facts: {
        refresh: () => Promise.resolve(),
        current: () => ({
          clusterTags: CLUSTER_TAGS,
          vpcId: 'vpc-1',
          subnetsFor: () => this.subnets,
          rangesOf: () => [],
        }),
      },
      otherKinds: (setup) => [groupKind(this.groups, setup)],
    });
    return this.balancers;
  }

  get call(): CallContext {
    const logger = { error: ignore, warn: ignore, info: ignore, verbose: ignore };
    const { signal } = new AbortController();
    return { signal, priority: 'normal', logger, call: (_operation, send) => send(signal) };
  }

  async parts(service: LoadBalancerService): Promise<readonly LoadBalancerPart[]> {
    const [seen] = await this.balancers.observe([service], this.call);
    assert.ok(seen?.kind === 'parts', 'the look failed');
    return seen.parts;
  }

  async plan(desired: DesiredLoadBalancer): Promise<LoadBalancerPlan> {
    return this.balancers.plan(desired, await this.parts(desired.service));
  }

  /** As the host does it, until a plan has nothing more to do; gives back what was done. Rejects where `apply` does. */
  bring(desired: DesiredLoadBalancer): Promise<readonly string[]> {
    return bringToItsEnd(this, desired, 20);
  }
}

const ignore = (): void => {};

function groupKind(groups: Map<string, Owner>, { settingsOf }: KindSetup): PartKind {
  const part = (id: string, owner: Owner | undefined): ListedPart => ({ id, owner, state: 'ready', attributes: {} });
  return {
    kind: SECURITY_GROUP,
    wanted: (desired) => (settingsOf(desired).groups.named.length > 0 ? [] : [{ attributes: {} }]),
    list: () => Promise.resolve([...groups].map(([id, owner]) => part(id, owner))),
    create: ({ owner }) => {
      const id = `sg-${owner.uid.slice(0, 8)}`;
      groups.set(id, owner);
      return Promise.resolve({ id });
    },
    delete: (id) => {
      groups.delete(id);
      return Promise.resolve();
    },
    read: (id) => Promise.resolve(part(id, groups.get(id))),
  };
}

/** Ports by their numbers, with node ports 30000 above them. */
export function serviceOf(
  annotations: Readonly<Record<string, string>> = {},
  extra: Partial<LoadBalancerService> = {},
  ports: readonly number[] = [80],
): LoadBalancerService {
  return {
    uid: UID,
    namespace: 'shop',
    name: 'web',
    labels: {},
    ipFamilies: ['IPv4'],
    ipFamilyPolicy: 'SingleStack',
    externalTrafficPolicy: 'Cluster',
    sourceRanges: [],
    ingress: [],
    ports: ports.map((port) => ({ name: `p${port}`, port, protocol: 'TCP', nodePort: 30_000 + port })),
    annotations: nlb(annotations),
    ...extra,
  };
}

/** By the ends of their names. */
function nlb(annotations: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  const all = Object.entries({ type: 'nlb', ...annotations });
  return Object.fromEntries(
    all.map(([name, value]) => [`service.beta.kubernetes.io/aws-load-balancer-${name}`, value]),
  );
}

export function desiredOf(
  service: LoadBalancerService,
  nodes: readonly string[] = ['i-0000000a', 'i-0000000b'],
  wanted: boolean = true,
): DesiredLoadBalancer {
  const backEnds = nodes.map((id): BackEnd => ({
    node: { name: id, uid: id, providerID: `aws:///eu-1a/${id}`, labels: {}, annotations: {} },
    addresses: [],
  }));
  return { service, wanted, owner: { clusterId: CLUSTER, uid: service.uid }, backEnds };
}
