/** What happens between two requests to a real Neutron and Octavia: kill -9, lost answers, another's change. Nothing is made twice. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { FaultProxy, FaultRule } from '@outrigger/testing';
import { asking, openFeatureLab } from './feature-lab.ts';
import { openFaultyRegion } from './lab-proxies.ts';
import { openLab } from './lab.ts';
import type { LabIds } from './openstack-cluster.ts';

type Fault = FaultRule['fault'];

interface Port {
  readonly security_groups: readonly string[];
}

interface Part {
  readonly id: string;
  readonly name?: string;
  readonly description: string;
  readonly tags: readonly string[];
  /** Of Octavia's. */
  readonly provisioning_status?: string;
}

/** When a request is made, and does not come to its end. */
interface Moment {
  readonly what: string;
  readonly proxy: FaultProxy;
  readonly method: 'POST' | 'PUT' | 'DELETE';
  readonly path: RegExp;
  /** Default: it is carried out, and nobody hears of it. */
  readonly fault?: Fault;
  /** What the cloud has come to when the program may die. */
  readonly holds: () => Promise<boolean>;
}

const LOSE_ANSWER: Fault = { type: 'lose-answer' };

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
  const { cluster, nodes, nothingIsLeft, services } = lab;
  const { manager } = cluster;
  const { user } = cluster.lab;
  const { clock, loadBalancer, network } = region;

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
  /** One of each, and all of it says whose it is. */
  const isWhole = async (name: string): Promise<void> => {
    const addresses = await services.untilServed(name);
    const tree = await services.untilActive(name);
    assert.deepEqual(addresses, [tree.floatingIP]);
    const uid = (await services.get(name)).metadata?.uid;
    const [balancers, addressesThere, groupsThere] = await Promise.all([loadBalancers(), floatingIPs(), groups()]);
    assert.deepEqual([balancers.length, addressesThere.length, groupsThere.length], [1, 1, 1]);
    for (const { description, tags } of [...addressesThere, ...groupsThere]) {
      assert.ok(description.includes(`/${uid}]`), description);
      assert.ok(tags.includes(`outrigger-owner=${uid}`), tags.join());
    }
  };
  const hasNoTags = (parts: readonly Part[]): boolean => parts.length === 1 && parts[0]?.tags.length === 0;
  /**
   * At each of the moments, one after the other, nothing of the program passes any more, and it dies. `begin`: what makes it work,
   * before the first. It runs again when this resolves.
   */
  const diesAtEach = async (moments: readonly Moment[], begin: () => Promise<void>): Promise<void> => {
    for (const [i, { fault = LOSE_ANSWER, holds, method, path, proxy, what }] of moments.entries()) {
      const rule = proxy.add({ match: { method, path, times: 1 }, fault });
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

  await t.test(
    'kill -9 between making and tagging: what its description alone knows is found, and has its tags',
    async () => {
      const floatingIPHasNoTags = async (): Promise<boolean> => hasNoTags(await floatingIPs());
      await diesAtEach(
        [
          {
            what: 'the floating IP is made, and its tags are about to be written',
            path: /\/floatingips\/[^/]+\/tags$/u,
            holds: floatingIPHasNoTags,
          },
          {
            what: 'the security group is made, and its tags are about to be written',
            path: /\/security-groups\/[^/]+\/tags$/u,
            holds: async () => hasNoTags(await groups()),
          },
          {
            what: 'the tags that the floating IP lacks are about to be written',
            path: /\/floatingips\/[^/]+\/tags$/u,
            holds: floatingIPHasNoTags,
          },
        ].map((moment) => ({ ...moment, proxy: network, method: 'PUT', fault: { type: 'hang' } })),
        () => services.create(asking('half-marked')),
      );
      await services.untilServed('half-marked');
      await cluster.until('both have tags', async () =>
        [...(await floatingIPs()), ...(await groups())].every(({ tags }) => tags.length > 0),
      );
      await isWhole('half-marked');
      await services.delete('half-marked');
      await nothingIsLeft();
    },
  );

  await t.test(
    'somebody changes a port right before its group is written: Neutron says 412, and both stay',
    async () => {
      const [node] = nodes;
      assert.ok(node);
      const path = `/ports/${node.portId}`;
      const groupsOf = async (): Promise<readonly string[]> =>
        (await user.request<{ port: Port }>('network', 'GET', path)).port.security_groups;
      const putGroups = async (ids: readonly string[]): Promise<void> =>
        void (await user.request('network', 'PUT', path, { body: { port: { security_groups: ids } } }));
      const body = { security_group: { name: 'theirs' } };
      const { security_group: theirs } = await user.request<{ security_group: Part }>(
        'network',
        'POST',
        '/security-groups',
        { body },
      );
      const before = await groupsOf();
      const match = { method: 'PUT', path: new RegExp(`${path}$`, 'u'), times: 1 };
      const rule = network.add({ match, fault: { type: 'latency', ms: 1_000 } });
      network.calls.clear();
      await services.create(asking('met'));
      await struck(rule, 'the port is about to be written');
      await putGroups([...before, theirs.id]);
      await clock.advance(1_000);
      await services.untilServed('met');
      const [group] = (await groups()).filter(({ id }) => id !== theirs.id);
      assert.ok(group);
      assert.deepEqual((await groupsOf()).toSorted(), [...before, theirs.id, group.id].toSorted());
      const puts = network.calls.calls.filter((call) => call.method === 'PUT' && call.path.endsWith(path));
      assert.deepEqual(
        puts.map(({ status }) => status),
        [412, 200],
      );
      wellAgain();
      await services.delete('met');
      assert.deepEqual((await groupsOf()).toSorted(), [...before, theirs.id].toSorted());
      await putGroups(before);
      await user.request('network', 'DELETE', `/security-groups/${theirs.id}`);
      await nothingIsLeft();
    },
  );
});
