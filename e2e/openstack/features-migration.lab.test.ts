/** Load balancers from cloud-provider-openstack to here and back, on a real Octavia: made and deleted by its own sequence of calls. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { LoadBalancerService } from '@outrigger/cloud-provider';
import { resources } from '@outrigger/kube';
import {
  cpoDelete,
  cpoEnsure,
  cpoName,
  cpoWouldChange,
  type CpoOptions,
} from '../../providers/openstack/src/load-balancer/cpo-calls.suite.ts';
import { CPO_FINALIZER, cpoServiceOf, writeAsCpo } from './cpo-services.ts';
import { asking, openFeatureLab, portOf } from './feature-lab.ts';
import { cpoWorldOf, releaseAsCpo } from './lab-cpo.ts';
import { differenceOf, listProject } from './lab-listing.ts';
import { isActive, octaviaTrees, type OctaviaTree } from './octavia-tree.ts';
import type { LabIds } from './openstack-cluster.ts';

const CLUSTER = 'lab';
const FORMER = 'lab-as-it-was';

const config = ({ outside, subnet }: LabIds): string => `[LoadBalancer]
floating-network-id=${outside}
subnet-id=${subnet}
manage-security-groups=true
previous-cluster-name=${FORMER}
provider-requires-serial-api-calls=true
`;

/** `kind id`, without what is written on it. */
const things = (listing: readonly string[]): readonly string[] =>
  listing.map((line) => /^[A-Za-z ]+ [0-9a-f-]{36}/u.exec(line)?.[0] ?? line).toSorted();

const loadBalancerOf = ({ annotations }: LoadBalancerService): string =>
  annotations['loadbalancer.openstack.org/load-balancer-id'] ?? assert.fail('CPO has written no load balancer');

interface Tagged {
  readonly id: string;
  readonly tags: readonly string[];
}

interface Marked {
  readonly description: string;
  readonly tags: readonly string[];
}

test('from cloud-provider-openstack and back, on a real Octavia', async (t) => {
  const lab = await openFeatureLab(t, ['lab-moved-1', 'lab-moved-2'], { config });
  if (!lab) return;
  const { cluster, nothingIsLeft, services, untilTold } = lab;
  const { manager } = cluster;
  const { user } = cluster.lab;
  const world = cpoWorldOf(lab);
  /** Makes all of a Service as CPO does, and leaves the Service as CPO leaves it. */
  const servedByCpo = async (
    name: string,
    options: CpoOptions & { readonly named?: boolean } = {},
    ports = [portOf(80)],
  ): Promise<LoadBalancerService> => {
    await services.create(asking(name, {}, { ports }));
    const service = cpoServiceOf(await services.get(name));
    const { named = true, ...how } = options;
    const made = await cpoEnsure(world, service, { clusterName: CLUSTER, securityGroup: true, ...how });
    await writeAsCpo(cluster.client, named ? made : { ...made, annotations: {} });
    return made;
  };
  const treeOf = async (service: LoadBalancerService): Promise<OctaviaTree> =>
    (await octaviaTrees(user)).find(({ id }) => id === loadBalancerOf(service)) ?? assert.fail(service.name);
  /** Whether as many of Neutron's parts as that say whose they are, in the description and in the tags. */
  const areMarked = async ({ uid }: LoadBalancerService, count: number): Promise<boolean> => {
    const parts = [
      ...(await user.list<Marked>('network', '/security-groups')),
      ...(await user.list<Marked>('network', '/floatingips')),
    ].filter(({ description }) => description.endsWith(`/${uid}]`));
    return parts.length === count && parts.every(({ tags }) => tags.includes(`outrigger-owner=${uid}`));
  };
  /** Everything of it says whose it is, and is ACTIVE. `sharing`: another's load balancer and address. */
  const untilTaken = async (service: LoadBalancerService, sharing = false): Promise<OctaviaTree> => {
    const tag = `outrigger.dev/${sharing ? 'shared-by' : 'owner'}=`;
    await cluster.until(`${service.name} is taken over`, async () => {
      const tree = await treeOf(service);
      const isTaken = tree.tags.some((one) => one.startsWith(tag) && one.endsWith(`/${service.uid}`));
      const own = tree.listeners.filter(({ tags }) => tags.some((one) => one.endsWith(`/${service.uid}`)));
      const isWhole = isTaken && own.length === service.ports.length && isActive(tree);
      return isWhole && (await areMarked(service, sharing ? 1 : 2));
    });
    return treeOf(service);
  };
  /** What CPO would change of what it finds by the annotation and its names. */
  const wouldChange = async ({ name }: LoadBalancerService): Promise<readonly string[]> =>
    cpoWouldChange(world, cpoServiceOf(await services.get(name)), CLUSTER);
  /** What is made one after the other is ACTIVE in between too: done is what CPO would not go on with, and what is ACTIVE then. */
  const untilDone = (service: LoadBalancerService): Promise<void> =>
    cluster.until(`${service.name} is as CPO wants it`, async () => {
      const isWhole = (await wouldChange(service)).length === 0;
      return isWhole && isActive(await treeOf(service));
    });
  /** Puts the tag on all that is of these kinds. */
  const mark = async (service: LoadBalancerService, tag: string, kinds: readonly string[]): Promise<void> => {
    const id = loadBalancerOf(service);
    for (const kind of kinds) {
      const path = kind === 'loadbalancers' ? `/${kind}?id=${id}` : `/${kind}?loadbalancer_id=${id}`;
      for (const one of await user.list<Tagged>('load-balancer', path)) {
        const body = { [kind.slice(0, -1)]: { tags: [...one.tags, tag] } };
        await user.request('load-balancer', 'PUT', `/${kind}/${one.id}`, { body });
        await cluster.settled(`${service.name} is ACTIVE`, async () => isActive(await treeOf(service)));
      }
    }
  };
  const removedByCpo = async (service: LoadBalancerService): Promise<void> => {
    await cpoDelete(world, service, CLUSTER);
    await cluster.settled(`Octavia has no load balancer of ${service.name}`, async () =>
      (await octaviaTrees(user)).every(({ id }) => id !== loadBalancerOf(service)),
    );
  };
  const deletedByCpo = async (service: LoadBalancerService): Promise<void> => {
    await services.beginDelete(service.name);
    await removedByCpo(service);
    await releaseAsCpo(lab, service.name);
  };
  await manager.end('SIGTERM');

  await t.test(
    'taken over as it is, also one that is shared; a change is served; back, and deleted by CPO',
    async (t) => {
      const web = await servedByCpo('web', { serial: true }, [portOf(80), portOf(53, 'UDP')]);
      const sharer = await servedByCpo('sharer', { loadBalancerId: loadBalancerOf(web) }, [portOf(81)]);
      assert.deepEqual(await wouldChange(web), [], 'the script agrees with itself');
      const made = things(await listProject(user));
      const before = await treeOf(web);
      manager.start();
      await t.test('nothing was made, nothing deleted, and no address is another', async () => {
        const tree = await untilTaken(web);
        await untilTaken(sharer, true);
        assert.deepEqual(things(await listProject(user)), made);
        assert.deepEqual([tree.id, tree.vip, tree.floatingIP], [before.id, before.vip, before.floatingIP]);
        assert.deepEqual(await services.ingress('web'), [before.floatingIP]);
      });
      await t.test('what CPO looks for stays', async () => {
        const { listeners, tags } = await treeOf(web);
        for (const service of [web, sharer]) {
          const name = cpoName(service, CLUSTER);
          assert.ok(tags.includes(name), tags.join());
          assert.ok(listeners.some((listener) => listener.tags.includes(name)));
          assert.deepEqual(await wouldChange(service), [], service.name);
        }
      });
      await t.test('another port is served, on the same address', async () => {
        await services.patch('web', { spec: { ports: [portOf(80), portOf(53, 'UDP'), portOf(443)] } });
        await cluster.until('web listens on 443 too', async () => {
          const tree = await treeOf(web);
          return isActive(tree) && tree.listeners.some(({ at }) => at === 'TCP 443');
        });
        assert.deepEqual(await services.ingress('web'), [before.floatingIP]);
        await services.delete('sharer');
        const at = (await treeOf(web)).listeners.map((listener) => listener.at);
        assert.deepEqual(at, ['TCP 443', 'TCP 80', 'UDP 53']);
      });
      await t.test('CPO would change nothing of it, and leaves nothing when it deletes it', async () => {
        await untilDone(web);
        await manager.end('SIGTERM');
        assert.deepEqual(await wouldChange(web), []);
        await deletedByCpo(web);
        await nothingIsLeft();
      });
    },
  );

  await t.test('what another has marked is refused, also when its Service goes', async (t) => {
    const halfTaken = await servedByCpo('half-taken', { serial: true });
    const taken = await servedByCpo('taken', { serial: true });
    await mark(halfTaken, 'outrigger.dev/owner=another-cluster/5b0d', ['loadbalancers']);
    const { metadata } = await cluster.client.of(resources.namespaces).get({ name: 'kube-system' });
    await mark(taken, `outrigger.dev/owner=${metadata?.uid}/5b0d`, ['loadbalancers', 'listeners', 'pools']);
    const before = await listProject(user);
    manager.start();
    for (const [{ name }, what, why] of [
      [halfTaken, 'by another cluster, which has only begun', /, but another owner;/u],
      [taken, 'by another Service of this cluster', /may not be used by Services of the namespace default/u],
    ] as const) {
      await t.test(`${what}: one Event, and the finalizer stays`, async () => {
        await untilTold(name, why);
        const told = await cluster.eventsAbout(name, 'Service', 'Warning');
        assert.equal(told.length, 1, told.join('\n'));
        assert.deepEqual((await services.get(name)).metadata?.finalizers, [CPO_FINALIZER]);
      });
    }
    await t.test('nothing was changed in Octavia or Neutron', async () => {
      assert.deepEqual(differenceOf(before, await listProject(user)), []);
      for (const service of [halfTaken, taken]) assert.ok(await areMarked(service, 0));
    });
    await t.test('deleted: their finalizers go, and of the cloud only the groups that their UIDs name', async () => {
      await services.delete('half-taken', 'taken');
      const changed = differenceOf(before, await listProject(user));
      assert.deepEqual(
        // A group is seen on ports and servers too.
        changed.filter((line) => !/^[+-] (port|server|security group) /u.test(line)),
        [],
      );
    });
    await manager.end('SIGTERM');
    for (const service of [halfTaken, taken]) await removedByCpo(service);
    await nothingIsLeft();
  });

  await t.test('all other ways in which CPO has made them', async (t) => {
    const whole = await servedByCpo('whole');
    // Its UID is part of the name, so it has to be there first.
    await services.create(asking('legacy'));
    const old = cpoServiceOf(await services.get('legacy'));
    const name = `a${old.uid.replaceAll('-', '')}`.slice(0, 32);
    const legacy = await cpoEnsure(world, old, { clusterName: CLUSTER, name, securityGroup: true });
    await writeAsCpo(cluster.client, legacy);
    const former = await servedByCpo('former', { clusterName: FORMER });
    const unnamed = await servedByCpo('unnamed', { named: false });
    await servedByCpo('gone');
    await services.beginDelete('gone');
    const { tags: asItWas } = await treeOf(unnamed);
    manager.start();
    await t.test('gone before it was taken over: nothing of it is left', async () => {
      await services.untilGone('gone');
      assert.deepEqual(await services.trees('gone'), []);
    });
    for (const [service, what] of [
      [whole, 'made in one call'],
      [legacy, 'of the old name'],
      [former, 'of the former cluster name'],
    ] as const) {
      await t.test(`${what}: it keeps its load balancer and its address`, async () => {
        const tree = await untilTaken(service);
        assert.equal(tree.floatingIP, service.ingress[0]?.ip);
        assert.deepEqual(await services.ingress(service.name), [tree.floatingIP]);
        assert.equal((await octaviaTrees(user)).filter((one) => one.name === tree.name).length, 1);
      });
    }
    await t.test('made in one call: CPO would change nothing of it', async () =>
      assert.deepEqual(await wouldChange(whole), []),
    );
    await t.test('that no annotation names: refused with one Event, and as it was', async () => {
      await untilTold('unnamed', /set the annotation/u);
      const told = await cluster.eventsAbout('unnamed', 'Service', 'Warning');
      assert.equal(told.length, 1, told.join('\n'));
      const trees = await services.trees('unnamed');
      assert.deepEqual(
        trees.map(({ floatingIP, id, tags }) => [id, floatingIP, tags]),
        [[loadBalancerOf(unnamed), unnamed.ingress[0]?.ip, asItWas]],
      );
      assert.ok(await areMarked(unnamed, 0));
    });
    await t.test('named then: taken over', async () => {
      await services.patch('unnamed', { metadata: { annotations: unnamed.annotations } });
      assert.equal((await untilTaken(unnamed)).floatingIP, unnamed.ingress[0]?.ip);
    });
    await services.delete('whole', 'legacy', 'former', 'unnamed');
    await nothingIsLeft();
  });

  await t.test('what was made here goes to CPO as it is', async () => {
    await services.create(asking('ours', {}, { ports: [portOf(80), portOf(443)] }));
    await services.untilServed('ours');
    const ours = cpoServiceOf(await services.get('ours'));
    await untilTaken(ours);
    await untilDone(ours);
    await manager.end('SIGTERM');
    assert.deepEqual(await wouldChange(ours), []);
    await deletedByCpo(ours);
    await nothingIsLeft();
  });
});
