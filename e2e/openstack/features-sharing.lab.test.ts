/** Services that share one load balancer, on a real Octavia: who may, whose it is, and when it goes. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Service } from '@outrigger/kube';
import { annotated, asking, INTERNAL, openFeatureLab, portOf } from './feature-lab.ts';
import { isActive, octaviaTrees, type OctaviaTree } from './octavia-tree.ts';

interface FloatingIP {
  readonly floating_ip_address: string;
  readonly description: string;
}

interface LoadBalancer {
  readonly id: string;
  readonly vip_port_id: string;
  readonly provisioning_status: string;
}

const uidOf = ({ metadata }: Service): string => metadata?.uid ?? assert.fail('a Service without a UID');
const loadBalancerOf = ({ metadata }: Service): string =>
  metadata?.annotations?.['loadbalancer.openstack.org/load-balancer-id'] ?? assert.fail('it has no load balancer');

/** Whether a tag says `who`, `owner` or `shared-by`, of this Service. */
const says = (tags: readonly string[], who: string, service: Service): boolean =>
  tags.some((tag) => tag.startsWith(`outrigger.dev/${who}=`) && tag.endsWith(`/${uidOf(service)}`));

const listenersOf = ({ listeners }: OctaviaTree): readonly string[] => listeners.map(({ at }) => at);

test('shared load balancers on a real Octavia', async (t) => {
  const lab = await openFeatureLab(t, ['lab-sharing-1']);
  if (!lab) return;
  const { cluster, nothingIsLeft, services, untilTold } = lab;
  const { user } = cluster.lab;
  const sharerOf = (owner: Service, name: string, port: number, more: Record<string, string> = {}): Service =>
    asking(name, { ...annotated({ 'load-balancer-id': loadBalancerOf(owner) }), ...more }, { ports: [portOf(port)] });
  const serve = async (service: Service): Promise<Service> => {
    const name = service.metadata?.name ?? '';
    await services.create(service);
    await services.untilServed(name);
    return services.get(name);
  };
  /** Until the load balancer of that ID has these listeners and is ACTIVE; it is called after whoever made it. */
  const untilListening = async (owner: string, ...at: readonly string[]): Promise<OctaviaTree> => {
    await cluster.until(`the load balancer of ${owner} listens on ${at.join(' and ')}`, async () => {
      const tree = await services.untilActive(owner);
      return listenersOf(tree).join() === at.join();
    });
    return services.untilActive(owner);
  };

  let first!: Service;
  let alone!: OctaviaTree;
  await t.test('refused, and nothing is changed: a port that is taken, and an internal Service', async () => {
    first = await serve(asking('first'));
    alone = await services.untilActive('first');
    await services.create(sharerOf(first, 'clashing', 80));
    await services.create(sharerOf(first, 'hidden', 83, INTERNAL));
    await untilTold('clashing', /port 80 \(TCP\) .* is taken/u);
    await untilTold('hidden', /internal Service cannot share/u);
    await services.delete('clashing', 'hidden');
    assert.deepEqual(await octaviaTrees(user), [alone]);
  });

  let second!: Service;
  await t.test('a second Service has its listener there, and its tags; both have one address', async () => {
    second = await serve(sharerOf(first, 'second', 81));
    assert.deepEqual(await services.ingress('second'), await services.ingress('first'));
    const tree = await untilListening('first', 'TCP 80', 'TCP 81');
    assert.ok(says(tree.tags, 'owner', first) && says(tree.tags, 'shared-by', second), tree.tags.join());
    const [of80, of81] = tree.listeners.map(({ tags }) => tags);
    assert.ok(of80 && says(of80, 'owner', first) && of81 && says(of81, 'owner', second));
    assert.equal((await octaviaTrees(user)).length, 1);
    assert.equal((await user.list('network', '/floatingips')).length, 1);
  });

  await t.test('a third one is more than max-shared-lb', async () => {
    const before = await octaviaTrees(user);
    await services.create(sharerOf(first, 'third', 82));
    await untilTold('third', /used by 2 Services already \(max-shared-lb 2\)/u);
    await services.delete('third');
    assert.deepEqual(await octaviaTrees(user), before);
  });

  await t.test('who shares and goes takes its own listener along, and no more', async () => {
    await services.delete('second');
    const tree = await untilListening('first', 'TCP 80');
    assert.deepEqual(tree, alone);
  });

  await t.test('the owner goes: who shares owns it then, and the floating IP; the last one deletes both', async () => {
    second = await serve(sharerOf(first, 'heir', 81));
    const [address] = await services.ingress('heir');
    await services.delete('first');
    const tree = await untilListening('first', 'TCP 81');
    assert.ok(!JSON.stringify(tree).includes(uidOf(first)), 'nothing says that it is the first one’s');
    await cluster.until('the load balancer and its address are the heir’s', async () => {
      const { tags } = await services.untilActive('first');
      const [floating] = await user.list<FloatingIP>('network', '/floatingips');
      return says(tags, 'owner', second) && floating?.description.includes(`/${uidOf(second)}`) === true;
    });
    assert.deepEqual([tree.id, tree.floatingIP], [alone.id, address]);
    assert.deepEqual(await services.ingress('heir'), [address]);
    await services.delete('heir');
    await nothingIsLeft();
  });

  await t.test('where the owner has no floating IP, one that wants one is refused', async () => {
    const inside = await serve(asking('inside', INTERNAL));
    await services.create(sharerOf(inside, 'outside', 84));
    await untilTold('outside', /no floating IP, and only the Service that owns it/u);
    await services.delete('outside', 'inside');
    await nothingIsLeft();
  });

  await t.test('a load balancer that somebody else has made is used, and left as it was', async () => {
    const body = {
      loadbalancer: {
        name: 'by-hand',
        vip_subnet_id: cluster.ids.subnet,
        tags: ['outrigger-namespace=default', 'team-a'],
      },
    };
    const made = await user.request<{ loadbalancer: LoadBalancer }>('load-balancer', 'POST', '/loadbalancers', {
      body,
    });
    const { id, vip_port_id: port_id } = made.loadbalancer;
    await cluster.until('the load balancer by hand is ACTIVE', async () => {
      const [tree] = await octaviaTrees(user);
      return tree?.provisioningStatus === 'ACTIVE';
    });
    const floatingip = { floating_network_id: cluster.ids.outside, port_id };
    const { floatingip: floating } = await user.request<{ floatingip: { readonly id: string } }>(
      'network',
      'POST',
      '/floatingips',
      { body: { floatingip } },
    );
    const [before] = await octaviaTrees(user);
    await serve(asking('guest', annotated({ 'load-balancer-id': id })));
    assert.deepEqual(await services.ingress('guest'), [before?.floatingIP]);
    const [serving] = await octaviaTrees(user);
    assert.deepEqual(serving && listenersOf(serving), ['TCP 80']);
    await services.delete('guest');
    await cluster.until('nothing is under way', async () => (await octaviaTrees(user)).every(isActive));
    assert.deepEqual(await octaviaTrees(user), [before]);
    await user.request('network', 'DELETE', `/floatingips/${floating.id}`);
    await user.request('load-balancer', 'DELETE', `/loadbalancers/${id}`);
    await cluster.until('it is gone', async () => (await octaviaTrees(user)).length === 0);
    await nothingIsLeft();
  });
});
