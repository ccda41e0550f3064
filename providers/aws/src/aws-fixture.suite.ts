/** The fake AWS as a fixture of the conformance suite. */
import type {
  CloudProvider,
  DesiredLoadBalancer,
  LoadBalancers,
  LoadBalancerService,
  NodeRef,
} from '@outrigger/cloud-provider';
import type { CloudFailure, NamedThing, ProviderFixture } from '@outrigger/conformance';
import { FakeClock } from '@outrigger/testing';
import type { SeededCluster } from '../fake/aws-world.ts';
import { createFakeAws, type FakeAws, type FakeAwsFault } from '../fake/fake-aws.ts';
import { services } from '../generate/operations.ts';
import { createAwsProvider } from './aws-provider.ts';
import { annotationRows, type AnnotationKey } from './load-balancer/annotations/annotation-rows.ts';
import { GRANT_TAG } from './load-balancer/grants.ts';

export interface AwsFixture extends ProviderFixture {
  readonly provider: () => CloudProvider;
}

const ENV = { AWS_ACCESS_KEY_ID: 'AKIDEXAMPLE', AWS_SECRET_ACCESS_KEY: 'secret', AWS_REGION: 'eu-central-1' };

export async function awsFixture(): Promise<AwsFixture> {
  const clock = new FakeClock();
  const aws = createFakeAws({ clock });
  const cluster = aws.seedCluster({ nodes: 0, hasIpv6: true });
  const { clusterId, nodeGroupId, privateSubnets, routeTableId, vpcId } = cluster;
  const { balancers, classics, groups, listeners, routeTables, targetGroups, volumes } = aws.account;
  const table = routeTables.get(routeTableId);
  // Without the route to the VPC itself, which the suite would not know.
  if (table) routeTables.seed({ ...table, routes: [] });
  const nodes = new Map<string, string>();
  const idOf = ({ name }: NodeRef): string => {
    const id = nodes.get(name);
    if (id === undefined) throw new Error(`there is no instance of the node ${name}`);
    return id;
  };
  return {
    clock,
    config: {
      fileName: 'aws.conf',
      text: `[Global]\nKubernetesClusterID = ${clusterId}\nVPC = ${vpcId}\nNodeTags = team=infra, stage=test\n`,
    },
    provider: () => withNetworkLoadBalancers(createAwsProvider({ env: ENV, fetch: aws.fetch })),
    createMachine: async (name) => {
      const subnetId = privateSubnets[nodes.size % privateSubnets.length] ?? '';
      const tags = { [`kubernetes.io/cluster/${clusterId}`]: 'owned', Name: name };
      const { id } = aws.addInstance({ subnetId, groupIds: [nodeGroupId], tags });
      nodes.set(name, id);
      // Called as its tag: of a private DNS name the address counts too, whatever follows it.
      return { name, uid: `uid-${name}`, labels: {}, annotations: {} };
    },
    stopMachine: async (node) => aws.changeInstance(idOf(node), { state: 'stopped' }),
    deleteMachine: async (node) => {
      aws.forgetInstance(idOf(node));
      nodes.delete(node.name);
    },
    listMachines: async () => [...nodes.keys()],
    fail: async (how) => {
      aws.faults.set(...faultsOf(how));
    },
    lag: async (ms) => {
      aws.knobs.ec2LagMs = ms;
      aws.knobs.elbLagMs = ms;
    },
    listParts: async () => {
      const owned = groups.all().filter(({ tags }) => 'outrigger.dev/owner' in tags);
      const parts = [...balancers.all(), ...targetGroups.all(), ...listeners.all(), ...owned];
      return [...parts, ...classics.all()].map(({ id }) => id);
    },
    requests: async () => aws.calls.all().length,
    // Look-ups: by private DNS name, which is none's, and by tag.
    requestsOf: { lookUp: 2, createRoutes: 9, volumes: 1 },
    createNamedThings: async (namespace) => namedThings(aws, cluster, namespace),
    createForeignRoute: async (destination) => {
      const there = routeTables.get(routeTableId);
      if (!there) throw new Error('the route table is gone');
      const foreign = { destination, gatewayId: 'vgw-1', origin: 'CreateRoute' as const };
      routeTables.seed({ ...there, routes: [...there.routes, foreign] });
    },
    zones: ['eu-central-1a', 'eu-central-1b'],
    zonesOfVolume: 1,
    createVolume: async (name, [zone = '']) => ({
      name,
      uid: `uid-${name}`,
      source: 'awsElasticBlockStore',
      handle: aws.addVolume({ zone }),
    }),
    deleteVolume: async ({ handle }) => {
      volumes.remove(handle);
    },
    [Symbol.asyncDispose]: async () => {},
  };
}

/** The tag says for whom they are. */
function namedThings(
  aws: FakeAws,
  { internetGatewayId, publicSubnets: [first = ''], vpcId }: SeededCluster,
  namespace: string | undefined,
): readonly NamedThing[] {
  const { balancers, classics, rules, subnets, zones } = aws.account;
  const tags = namespace === undefined ? {} : { [GRANT_TAG]: namespace };
  const cidr = `10.0.${200 + subnets.all().length}.0/24`;
  const subnet = aws.addSubnet({ vpcId, zone: `${zones[0]?.name}`, cidr, tags });
  aws.addRouteTable({ vpcId, subnetIds: [subnet], internetGatewayId });
  const group = (): string => aws.addSecurityGroup({ vpcId, name: `of-others-${namespace}`, tags });
  const thing = (kind: string, id: string, set: Readonly<Partial<Record<AnnotationKey, string>>>): NamedThing => ({
    kind,
    id,
    wish: {
      annotations: Object.fromEntries(
        Object.entries(set).map(([key, value]) => [annotationRows[key as AnnotationKey].name, value]),
      ),
    },
    isUsed: async () => JSON.stringify([balancers.all(), classics.all(), rules.all()]).includes(`"${id}"`),
  });
  const [own, extra, address] = [group(), group(), aws.addAddress({ tags }).allocationId];
  return [
    thing('subnet', subnet, { subnets: subnet }),
    thing('security-group', own, { securityGroups: own }),
    thing('security-group', extra, { extraSecurityGroups: extra }),
    // One for each subnet.
    thing('elastic-ip', address, { subnets: first, eipAllocations: address }),
  ];
}

function faultsOf(how: CloudFailure | undefined): readonly FakeAwsFault[] {
  if (how === undefined) return [];
  if (how.kind === 'empty') return [{ spoils: 'empty-list' }];
  if (how.kind === 'lost') {
    const lost = { status: 503, code: 'ServiceUnavailable', takesEffect: true };
    return WRITES.flatMap(({ operations, service }) =>
      operations.map((operation) => ({ ...lost, service, operation })),
    );
  }
  const { retryAfterSeconds, status } = how;
  const code = CODES[status] ?? 'InternalError';
  return [{ status, code, ...(retryAfterSeconds !== undefined && { retryAfterSeconds }) }];
}

/** As EC2 says them. */
const CODES: Readonly<Record<number, string>> = {
  401: 'AuthFailure',
  403: 'UnauthorizedOperation',
  429: 'RequestLimitExceeded',
  503: 'RequestLimitExceeded',
};

const WRITES = services.map(({ name, operations }) => ({
  service: name,
  operations: operations.filter((operation) => !operation.startsWith('Describe') && name !== 'sts'),
}));

/** Services of the suite have no annotations: without this one they are for Classic Load Balancers, which serve less of what is declared. */
const AS_NLB = { 'service.beta.kubernetes.io/aws-load-balancer-type': 'nlb' };

function withNetworkLoadBalancers(provider: CloudProvider): CloudProvider {
  return over(provider, {
    open: async (host) => {
      const { loadBalancers, ...others } = await provider.open(host);
      return { ...others, ...(loadBalancers && { loadBalancers: annotated(loadBalancers) }) };
    },
  });
}

function annotated(loadBalancers: LoadBalancers): LoadBalancers {
  const annotate = (service: LoadBalancerService): LoadBalancerService => ({
    ...service,
    annotations: { ...AS_NLB, ...service.annotations },
  });
  const wish = (desired: DesiredLoadBalancer): DesiredLoadBalancer => ({
    ...desired,
    service: annotate(desired.service),
  });
  return over(loadBalancers, {
    // One port of both protocols needs one node port for both, which Services of the suite do not have.
    features: { ...loadBalancers.features, mixedProtocols: false },
    observe: (asked, call) => loadBalancers.observe(asked.map(annotate), call),
    plan: (desired, parts) => loadBalancers.plan(wish(desired), parts),
    planMembers: (desired, parts) =>
      loadBalancers.planMembers?.(wish(desired), parts) ?? loadBalancers.plan(wish(desired), parts),
    apply: (action, desired, call) => loadBalancers.apply(action, wish(desired), call),
    selectBackEnds: (service, all) => loadBalancers.selectBackEnds?.(annotate(service), all) ?? all,
  });
}

/** `one` with these members in place of its own. */
function over<T extends object>(one: T, members: Partial<T>): T {
  return new Proxy(one, {
    get: (target, key) => {
      if (Object.hasOwn(members, key)) return Reflect.get(members, key) as unknown;
      const member: unknown = Reflect.get(target, key);
      return typeof member === 'function' ? (member.bind(target) as unknown) : member;
    },
  });
}
