/** What happens between two requests to a real Neutron and Octavia: kill -9 and lost answers. Nothing is made twice, nothing is left. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { FaultProxy, FaultRule } from '@outrigger/testing';
import { asking, openFeatureLab } from './feature-lab.ts';
import { openFaultyRegion } from './lab-proxies.ts';
import { openLab } from './lab.ts';
import type { LabIds } from './openstack-cluster.ts';

interface Part {
  readonly id: string;
  readonly name?: string;
  readonly description: string;
  readonly tags: readonly string[];
  /** Of Octavia's. */
  readonly provisioning_status?: string;
}

/** When the answer to a request is lost. */
interface Moment {
  readonly what: string;
  readonly proxy: FaultProxy;
  readonly method: 'POST' | 'DELETE';
  readonly path: RegExp;
  /** What the cloud has come to when the program may die. */
  readonly holds: () => Promise<boolean>;
}

const isOwnGroup = ({ name }: Part): boolean => name !== 'default';

test('between two requests, on a real Neutron and Octavia', async (t) => {
  const open = await openLab();
  await using region = await openFaultyRegion(open);
  // One call for each thing: the children of a load balancer that is made at once stay PENDING_CREATE for a minute and more here.
  const config = ({ outside, subnet }: LabIds): string => `[Global]
region=${region.name}

[LoadBalancer]
floating-network-id=${outside}
subnet-id=${subnet}
manage-security-groups=true
provider-requires-serial-api-calls=true
`;
  const lab = await openFeatureLab(t, ['lab-between-1', 'lab-between-2'], { config });
  if (!lab) return;
  const { cluster, nothingIsLeft, services } = lab;
  const { manager } = cluster;
  const { user } = cluster.lab;
  const { loadBalancer, network } = region;

  const groups = async (): Promise<readonly Part[]> =>
    (await user.list<Part>('network', '/security-groups')).filter(isOwnGroup);
  const floatingIPs = (): Promise<readonly Part[]> => user.list<Part>('network', '/floatingips');
  const loadBalancers = (): Promise<readonly Part[]> => user.list<Part>('load-balancer', '/loadbalancers');
  const struck = (rule: FaultRule, what: string): Promise<void> =>
    cluster.until(what, () => Promise.resolve(rule.hits > 0));
  const wellAgain = (): void => {
    network.clear();
    loadBalancer.clear();
  };
  /** One of each, and its description says whose. */
  const isWhole = async (name: string): Promise<void> => {
    const addresses = await services.untilServed(name);
    const tree = await services.untilActive(name);
    assert.deepEqual(addresses, [tree.floatingIP]);
    const uid = (await services.get(name)).metadata?.uid;
    const [balancers, addressesThere, groupsThere] = await Promise.all([loadBalancers(), floatingIPs(), groups()]);
    assert.deepEqual([balancers.length, addressesThere.length, groupsThere.length], [1, 1, 1]);
    for (const { description } of [...addressesThere, ...groupsThere]) {
      assert.ok(description.includes(`/${uid}]`), description);
    }
  };
  const hasNoTags = (parts: readonly Part[]): boolean => parts.length === 1 && parts[0]?.tags.length === 0;
  /**
   * At each of the moments, one after the other, nothing of the program passes any more, and it dies. `begin`: what makes it work,
   * before the first. It runs again when this resolves.
   */
  const diesAtEach = async (moments: readonly Moment[], begin: () => Promise<void>): Promise<void> => {
    for (const [i, { holds, method, path, proxy, what }] of moments.entries()) {
      const rule = proxy.add({ match: { method, path, times: 1 }, fault: { type: 'lose-answer' } });
      const match = { when: () => rule.hits > 0 };
      for (const one of [network, loadBalancer]) one.add({ match, fault: { type: 'hang' } });
      if (i === 0) await begin();
      else manager.start();
      await struck(rule, what);
      await cluster.settled(`${what}: so it is in the cloud`, holds);
      await manager.end('SIGKILL');
      wellAgain();
    }
    manager.start();
  };

  await t.test(
    'kill -9 after each is made, of which nobody hears, and before it has tags: it is found again, and there is one of it',
    async () => {
      await diesAtEach(
        [
          {
            what: 'the load balancer is made, and nobody hears of it',
            proxy: loadBalancer,
            method: 'POST',
            path: /\/loadbalancers$/u,
            holds: async () => (await loadBalancers()).length === 1,
          },
          {
            what: 'the floating IP is made, and nobody hears of it',
            proxy: network,
            method: 'POST',
            path: /\/floatingips$/u,
            holds: async () => hasNoTags(await floatingIPs()),
          },
          {
            what: 'the security group is made, and nobody hears of it',
            proxy: network,
            method: 'POST',
            path: /\/security-groups$/u,
            holds: async () => hasNoTags(await groups()),
          },
        ],
        () => services.create(asking('interrupted')),
      );
      await isWhole('interrupted');
    },
  );

  await t.test('kill -9 while each is deleted, which goes: nothing is left', async () => {
    await diesAtEach(
      [
        { what: 'the security group goes', proxy: network, path: /\/security-groups\/[^/]+$/u, of: groups },
        { what: 'the floating IP goes', proxy: network, path: /\/floatingips\/[^/]+$/u, of: floatingIPs },
        { what: 'the load balancer goes', proxy: loadBalancer, path: /\/loadbalancers\/[^/]+$/u, of: loadBalancers },
      ].map(({ of, ...moment }) => ({
        ...moment,
        method: 'DELETE',
        holds: async () => (await of()).every(({ provisioning_status }) => provisioning_status === 'PENDING_DELETE'),
      })),
      () => services.beginDelete('interrupted'),
    );
    await services.untilGone('interrupted');
    await nothingIsLeft();
  });
});
