/** Where Services are reached, on a real Octavia and Neutron: both families, floating IPs that are kept and asked for. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isDeepStrictEqual } from 'node:util';
import type { Service } from '@outrigger/kube';
import { annotated, asking, INTERNAL, openFeatureLab, portOf } from './feature-lab.ts';
import type { LabIds } from './openstack-cluster.ts';

const RANGES = ['192.0.2.0/24'];
const both = (policy: 'RequireDualStack' | 'PreferDualStack'): Partial<NonNullable<Service['spec']>> => ({
  ipFamilyPolicy: policy,
  ipFamilies: ['IPv4', 'IPv6'],
});
const SIX: Partial<NonNullable<Service['spec']>> = { ipFamilyPolicy: 'SingleStack', ipFamilies: ['IPv6'] };
/** Not given out by Neutron, which begins at the low end. */
const ASKED_FOR_VIP = '10.20.3.250';

interface FloatingIP {
  readonly id: string;
  readonly floating_ip_address: string;
  readonly port_id: string | null;
  readonly description: string;
  readonly tags: readonly string[];
}

/**
 * By network, where the family decides about the subnet. One call for each thing: the children of a load balancer that is made at once
 * stay PENDING_CREATE for a minute and more here, and that way is shown elsewhere.
 */
const config = ({ nodes, outside }: LabIds): string => `[LoadBalancer]
floating-network-id=${outside}
network-id=${nodes}
provider-requires-serial-api-calls=true
`;

test('addresses on a real Octavia', async (t) => {
  const lab = await openFeatureLab(t, ['lab-addressed-1', 'lab-addressed-2'], { config });
  if (!lab) return;
  const { cluster, nodes, nothingIsLeft, services, untilTold } = lab;
  const { user } = cluster.lab;
  const floatingIPs = async (): Promise<readonly FloatingIP[]> =>
    (await user.list<FloatingIP>('network', '/floatingips')).map(
      ({ description, floating_ip_address, id, port_id, tags }) => ({
        id,
        floating_ip_address,
        port_id,
        description,
        tags,
      }),
    );
  const membersOf = async (name: string, family: 'IPv4' | 'IPv6', port = 0): Promise<readonly string[]> => {
    const nodePort = (await services.get(name)).spec?.ports?.[port]?.nodePort;
    return nodes.map(({ addresses }) => `${addresses[family]}:${nodePort}`).toSorted();
  };

  const keep = annotated({ 'keep-floatingip': 'true' });
  await t.test('made at once: both families, IPv6 alone, an address of one’s own', async (t) => {
    await Promise.all([
      services.create(asking('both', {}, { ...both('RequireDualStack'), ports: [portOf(80), portOf(53, 'UDP')] })),
      services.create(asking('required', {}, { ...both('RequireDualStack'), loadBalancerSourceRanges: RANGES })),
      services.create(asking('either', {}, { ...both('PreferDualStack'), loadBalancerSourceRanges: RANGES })),
      services.create(asking('six', {}, SIX)),
      services.create(asking('six-ranges', {}, { ...SIX, loadBalancerSourceRanges: ['2001:db8::/32'] })),
      services.create(asking('fixed', INTERNAL, { loadBalancerIP: ASKED_FOR_VIP })),
      services.create(asking('single')),
      services.create(asking('kept', keep)),
      services.create(asking('kept-later')),
    ]);
    await t.test('two families are one load balancer with two VIPs, the first behind a floating IP', async () => {
      await services.untilServed('both');
      const tree = await services.untilActive('both');
      assert.equal(tree.additionalVips.length, 1);
      assert.deepEqual(await services.ingress('both'), [tree.floatingIP, ...tree.additionalVips]);
      const { metadata } = await services.get('both');
      assert.partialDeepStrictEqual(
        metadata?.annotations,
        annotated({ 'load-balancer-address': tree.floatingIP ?? '' }),
      );
      assert.match(tree.vip, /^10\.20\./u);
      assert.match(tree.additionalVips[0] ?? '', /^fd20:/u);
      const [http, dns] = tree.listeners.map(({ pool }) => pool?.members);
      assert.deepEqual(http, await membersOf('both', 'IPv4'));
      const packets = [...(await membersOf('both', 'IPv4', 1)), ...(await membersOf('both', 'IPv6', 1))];
      assert.deepEqual(dns, packets.toSorted());
    });
    await t.test(
      'not with source ranges: the first family alone, also where both are required, and an Event',
      async () => {
        for (const name of ['required', 'either']) {
          await services.untilServed(name);
          const tree = await services.untilActive(name);
          assert.deepEqual([tree.additionalVips, tree.listeners[0]?.allowedCidrs], [[], RANGES]);
          assert.deepEqual(await services.ingress(name), [tree.floatingIP]);
          await untilTold(name, /^LoadBalancerSingleStack: .*source ranges/u);
        }
      },
    );
    await t.test('IPv6 alone, with ranges of its own', async () => {
      for (const [name, ranges] of [
        ['six', ['::/0']],
        ['six-ranges', ['2001:db8::/32']],
      ] as const) {
        await services.untilServed(name);
        const tree = await services.untilActive(name);
        assert.match(tree.vip, /^fd20:/u);
        assert.deepEqual([tree.floatingIP, await services.ingress(name)], [undefined, [tree.vip]]);
        assert.deepEqual(tree.listeners[0]?.pool?.members, await membersOf(name, 'IPv6'));
        assert.deepEqual(tree.listeners[0]?.allowedCidrs, ranges);
      }
    });
    await t.test('loadBalancerIP of an internal Service is its VIP', async () => {
      await services.untilServed('fixed');
      const tree = await services.untilActive('fixed');
      assert.deepEqual([tree.vip, await services.ingress('fixed')], [ASKED_FOR_VIP, [ASKED_FOR_VIP]]);
    });
    await t.test('a second family that comes later is told of, and what serves goes on', async () => {
      await services.untilServed('single');
      const before = await services.untilActive('single');
      await services.patch('single', { spec: both('RequireDualStack') });
      await untilTold('single', /cannot get one later/u);
      // With two families a listener has no access list: from everywhere, as before.
      const listeners = before.listeners.map((one) => ({ ...one, allowedCidrs: [] }));
      await cluster.until('that nothing else has changed', async () =>
        isDeepStrictEqual(await services.untilActive('single'), { ...before, listeners }),
      );
    });
    await services.delete('both', 'required', 'either', 'six', 'six-ranges', 'fixed', 'single');
  });

  await t.test('keep-floatingip: it outlives the Service, and loadBalancerIP finds it again', async (t) => {
    const [kept = ''] = await services.untilServed('kept');
    const [later = ''] = await services.untilServed('kept-later');
    await services.patch('kept-later', { metadata: { annotations: keep } });
    await cluster.until('that it is to be kept stands on it', async () => {
      const found = (await floatingIPs()).find((one) => one.floating_ip_address === later);
      return found?.description.endsWith(' keep]') === true;
    });
    await t.test('let go of: detached, and without a mark', async () => {
      await services.delete('kept', 'kept-later');
      const left = await floatingIPs();
      assert.deepEqual(left.map((one) => one.floating_ip_address).toSorted(), [kept, later].toSorted());
      for (const one of left) {
        assert.deepEqual([one.port_id, one.tags, one.description.includes('outrigger')], [null, [], false]);
      }
    });
    await t.test(
      'asked for by its address it is attached; gone with the Service is only what was made for it',
      async () => {
        const before = await floatingIPs();
        await services.create(asking('again', {}, { loadBalancerIP: kept }));
        await services.create(asking('chosen', {}, { loadBalancerIP: '203.0.113.222' }));
        assert.deepEqual(await services.untilServed('again'), [kept]);
        assert.equal((await services.untilActive('again')).floatingIP, kept);
        await services.create(asking('rival', {}, { loadBalancerIP: kept }));
        await untilTold('rival', new RegExp(`${kept.replaceAll('.', '\\.')}, .*is attached elsewhere`, 'u'));
        await services.delete('rival');
        await services.delete('again');
        assert.deepEqual(await floatingIPs(), before);
      },
    );
    await t.test('one that is nobody’s yet only an administrator may have made', async () => {
      await untilTold('chosen', /^SyncLoadBalancerFailed: .*(forbidden|403|floating_ip_address|polic)/iu);
      await services.delete('chosen');
    });
    for (const { id } of await floatingIPs()) await user.request('network', 'DELETE', `/floatingips/${id}`);
    await nothingIsLeft();
  });
});
