/** What a provider declares that Services may ask for, it serves: one test for each feature. */
import { strict as assert } from 'node:assert';
import { isIP } from 'node:net';
import type { LoadBalancerFeatures, LoadBalancerService } from '@outrigger/cloud-provider';
import { has, type ConformanceTest } from './conformance-test.ts';
import { assertGone } from './load-balancer-tests.ts';
import { LoadBalancerUser, type Brought } from './load-balancer-user.ts';
import { NotVerifiable } from './not-verifiable.ts';
import type { ProviderRig } from './provider-rig.ts';

const SOURCE = 'packages/cloud-provider/src/load-balancer-features.ts';

type Asked = Partial<LoadBalancerService>;

interface Feature {
  readonly name: string;
  readonly declared: (features: LoadBalancerFeatures) => boolean;
  /** What a Service asks for. */
  readonly asks: (user: LoadBalancerUser) => Asked;
  /** What it asks for without the feature, which has to lead to something. Default: that is not tried. */
  readonly without?: (asked: Asked) => Asked;
  readonly check?: (brought: Brought) => void;
}

const FEATURES: readonly Feature[] = [
  ...(['TCP', 'UDP', 'SCTP'] as const).map((protocol): Feature => ({
    name: `protocol ${protocol}`,
    declared: ({ protocols }) => protocols.includes(protocol),
    asks: () => ({ ports: [{ name: 'one', port: 80, protocol, nodePort: 30_080 }] }),
  })),
  {
    name: 'several protocols on one Service',
    declared: ({ mixedProtocols, protocols }) => mixedProtocols && protocols.length > 1,
    asks: ({ balancers }) => ({
      ports: balancers.features.protocols.map((protocol, i) => ({
        name: `p${i}`,
        port: 53,
        protocol,
        nodePort: 30_053 + i,
      })),
    }),
    without: ({ ports = [] }) => ({ ports: ports.slice(0, 1) }),
  },
  ...(['IPv4', 'IPv6'] as const).map((family): Feature => ({
    name: `IP family ${family}`,
    declared: ({ ipFamilies }) => ipFamilies.includes(family),
    asks: () => ({ ipFamilies: [family] }),
    check: (brought) => assert.ok(familiesOf(brought, [family]), `no address of ${family}`),
  })),
  {
    name: 'both IP families on one Service',
    declared: ({ dualStack }) => dualStack,
    asks: () => ({ ipFamilies: ['IPv4', 'IPv6'], ipFamilyPolicy: 'RequireDualStack' }),
    check: (brought) => assert.ok(familiesOf(brought, ['IPv4', 'IPv6']), 'an address of each family'),
  },
  {
    name: 'session affinity',
    declared: ({ sessionAffinity }) => sessionAffinity,
    asks: () => ({ clientIPAffinitySeconds: 10_800 }),
    without: () => ({}),
  },
  {
    name: 'externalTrafficPolicy Local',
    declared: ({ externalTrafficPolicyLocal }) => externalTrafficPolicyLocal,
    asks: () => ({ externalTrafficPolicy: 'Local', healthCheckNodePort: 31_000 }),
  },
  {
    name: 'source ranges',
    declared: ({ sourceRanges }) => sourceRanges,
    asks: () => ({ sourceRanges: ['192.0.2.0/24', '198.51.100.0/24'] }),
    without: () => ({}),
  },
  {
    name: 'ports without node ports',
    declared: ({ withoutNodePorts }) => withoutNodePorts,
    asks: ({ balancers }) => ({
      ports: [{ name: 'one', port: 80, protocol: balancers.features.protocols[0] ?? 'TCP' }],
    }),
  },
];

export const loadBalancerFeatureTests: readonly ConformanceTest[] = [
  ...FEATURES.map((feature): ConformanceTest => ({
    name: `load-balancers / serves what it declares: ${feature.name}`,
    feature: 'load-balancers',
    source: SOURCE,
    declares: {
      what: feature.name,
      holds: ({ loadBalancers }) => loadBalancers !== undefined && feature.declared(loadBalancers.features),
    },
    run: (rig) => serves(feature, rig),
  })),
  {
    name: 'load-balancers / serves what it declares: a requested address',
    feature: 'load-balancers',
    source: SOURCE,
    declares: {
      what: 'a requested address',
      holds: ({ loadBalancers }) => loadBalancers?.features.requestedIP === true,
    },
    run: async (rig) => {
      const user = new LoadBalancerUser(rig);
      const backEnds = [await rig.createBackEnd('a')];
      const first = user.desired(user.service('lends'), backEnds);
      const [{ ip } = { ip: undefined }] = (await user.bring(first)).ingress;
      await user.remove(first);
      if (ip === undefined) throw new NotVerifiable('load balancers have no IP addresses here');
      const { ingress } = await user
        .bring(user.desired(user.service('asks', { requestedIP: ip }), backEnds))
        .catch((error: unknown) => {
          throw new NotVerifiable(`the address ${ip} was free a moment ago, and cannot be had: ${String(error)}`);
        });
      assert.ok(
        ingress.some((one) => one.ip === ip),
        `asked for ${ip}, got ${ingress.map((one) => one.ip).join(', ')}`,
      );
    },
  },
  {
    name: 'load-balancers / what is declared fits together',
    feature: 'load-balancers',
    source: SOURCE,
    declares: has('loadBalancers'),
    run: async (rig) => {
      const { annotations, classes, features } = rig.use('loadBalancers');
      assert.ok(features.protocols.length > 0 && features.ipFamilies.length > 0, 'some protocol, and some family');
      assert.ok(!features.dualStack || features.ipFamilies.length === 2, 'both families together, and not each');
      assert.ok(
        !features.mixedProtocols || features.protocols.length > 1,
        'several protocols together, and only one alone',
      );
      assert.equal(new Set(classes).size, classes.length);
      for (const one of classes)
        assert.match(one, /^[a-z0-9.-]+(\/[A-Za-z0-9._-]+)?$/u, 'a class is a label-style name');
      const names = annotations.map(({ name }) => name);
      assert.equal(new Set(names).size, names.length, 'no annotation twice');
      for (const { description, maxLength = 255, name } of annotations) {
        assert.match(name, /^([a-z0-9.-]+\/)?[A-Za-z0-9._-]+$/u, 'an annotation has a qualified name');
        assert.ok(description !== '' && maxLength > 0 && maxLength <= 4_096, name);
      }
    },
  },
];

async function serves({ asks, check, name, without }: Feature, rig: ProviderRig): Promise<void> {
  const user = new LoadBalancerUser(rig);
  const backEnds = [await rig.createBackEnd('a')];
  const plain = user.service('feature');
  const asking = { ...plain, ...asks(user) };
  const desired = user.desired(asking, backEnds);
  const brought = await user.bring(desired);
  assert.ok(brought.ingress.length > 0, `${name}: it is complete, and has no address`);
  check?.(brought);
  const again = user.plan(user.desired({ ...asking, ingress: brought.ingress }, backEnds), await user.look(asking));
  assert.ok(again.kind === 'plan' && again.complete, `${name}: a second pass finds something to do`);
  if (without) {
    const less = { ...plain, ...without(asks(user)), ingress: brought.ingress };
    const { actions } = await user.bring(user.desired(less, backEnds));
    assert.ok(actions.length > 0, `${name} is asked for no more, and nothing was done`);
  }
  await user.remove(desired);
  await assertGone(user, desired);
}

/** A name may have addresses of any family. */
function familiesOf({ ingress }: Brought, families: readonly ('IPv4' | 'IPv6')[]): boolean {
  if (ingress.some(({ hostname, ip }) => ip === undefined && hostname !== undefined)) return true;
  return families.every((family) => ingress.some(({ ip = '' }) => isIP(ip) === (family === 'IPv4' ? 4 : 6)));
}
