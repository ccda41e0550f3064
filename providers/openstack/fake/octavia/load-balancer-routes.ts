/** `/v2.0/lbaas/loadbalancers`. */
import type { Caller } from '../fake-http.ts';
import type { RouteTable } from '../route-table.ts';
import { addListener, addPool, addPoolChildren } from './octavia-births.ts';
import { invalid, octaviaRefusal } from './octavia-error.ts';
import { listShown } from './octavia-list.ts';
import type { FakeLoadBalancer } from './octavia-objects.ts';
import { isVisible } from './octavia-store.ts';
import type { Octavia } from './octavia.ts';
import { attributesOf, checkAttributes, present, type Attributes } from './request-attributes.ts';
import { releaseVip, takeVip } from './vip.ts';

const ROOT = '/v2.0/lbaas/loadbalancers';
const KIND = 'Load Balancer';

export function addLoadBalancerRoutes(routes: RouteTable, octavia: Octavia): void {
  const { store, views, provisioning, settings } = octavia;
  routes
    .on(`GET ${ROOT}`, ({ request, caller }) => {
      const all = [...store.loadBalancers.values()].filter((each) => isVisible(each, caller));
      return listShown('loadbalancers', all, (each) => views.loadBalancer(each), request);
    })
    .on(`GET ${ROOT}/{id}`, ({ params, caller }) => {
      const found = store.visible(store.loadBalancers, KIND, params['id'] ?? '', caller);
      return { status: 200, body: { loadbalancer: views.loadBalancer(found) } };
    })
    .on(`GET ${ROOT}/{id}/status`, ({ params, caller }) => {
      const found = store.visible(store.loadBalancers, KIND, params['id'] ?? '', caller);
      return { status: 200, body: { statuses: { loadbalancer: views.status(found) } } };
    })
    .on(`POST ${ROOT}`, ({ request, caller }) => {
      const given = attributesOf(request, 'loadbalancer POST');
      if (settings.apiMinor < 26 && 'additional_vips' in given) {
        throw octaviaRefusal(400, 'Unknown attribute for argument load_balancer.loadbalancer: additional_vips');
      }
      const made = create(octavia, given, caller);
      const children = store.treeOf(made).filter((each) => each !== made);
      const areLate = settings.childrenLateMs > 0;
      provisioning.begin({
        loadBalancer: made,
        status: 'PENDING_CREATE',
        durationMs: settings.createMs,
        settles: areLate ? [] : children,
      });
      if (areLate) provisioning.finishLate(children, settings.createMs + settings.childrenLateMs);
      return { status: 201, body: { loadbalancer: views.loadBalancer(made, true) } };
    })
    .on(`PUT ${ROOT}/{id}`, ({ request, params, caller }) => {
      const found = store.visible(store.loadBalancers, KIND, params['id'] ?? '', caller);
      const given = attributesOf(request, 'loadbalancer PUT');
      checkStatus(found, ['ACTIVE']);
      Object.assign(found, present(given));
      provisioning.begin({ loadBalancer: found, durationMs: settings.updateMs });
      return { status: 200, body: { loadbalancer: views.loadBalancer(found) } };
    })
    .on(`DELETE ${ROOT}/{id}`, ({ request, params, caller }) => {
      const found = store.visible(store.loadBalancers, KIND, params['id'] ?? '', caller);
      const tree = store.treeOf(found);
      if (tree.length > 1 && request.query.get('cascade')?.toLowerCase() !== 'true') {
        throw invalid(`Cannot delete Load Balancer ${found.id} - it has children`);
      }
      checkStatus(found, ['ACTIVE', 'ERROR']);
      provisioning.begin({
        loadBalancer: found,
        status: 'PENDING_DELETE',
        durationMs: settings.deleteMs,
        onDone: () => {
          for (const each of tree) store.remove(each);
          releaseVip(octavia.networking, found);
        },
      });
      return { status: 204 };
    });
}

/** The load balancer's own changes are refused in other words than those below it (seen on Zed). */
function checkStatus({ id, provisioning_status: status }: FakeLoadBalancer, allowed: readonly string[]): void {
  if (!allowed.includes(status)) {
    throw octaviaRefusal(409, `Invalid state ${status} of loadbalancer resource ${id}`);
  }
}

function create(octavia: Octavia, given: Attributes, caller: Caller): FakeLoadBalancer {
  const { store, settings, networking } = octavia;
  const own = present(given);
  const flavor = own['flavor_id'] as string | undefined;
  const zone = own['availability_zone'] as string | undefined;
  const provider = (own['provider'] as string | undefined) ?? 'amphora';
  if (!['vip_port_id', 'vip_network_id', 'vip_subnet_id'].some((name) => name in own)) {
    throw invalid('VIP must contain one of: vip_port_id, vip_network_id, vip_subnet_id.');
  }
  if (flavor !== undefined && !settings.flavors.has(flavor)) {
    throw octaviaRefusal(400, `The selected flavor is not allowed in this deployment: ${flavor}`);
  }
  if (zone !== undefined && !settings.availabilityZones.has(zone)) throw invalid('Invalid availability zone.');
  if (!settings.providers.includes(provider)) throw octaviaRefusal(400, `Provider '${provider}' is not enabled.`);
  octavia.checkQuota(KIND, store.loadBalancers, caller);
  const birth = octavia.birth(caller, given);
  const vip = takeVip(networking, own, caller, birth.id, provider);
  const loadBalancer: FakeLoadBalancer = {
    ...birth,
    description: (own['description'] as string | undefined) ?? '',
    ...vip,
    provider,
    flavor_id: flavor ?? null,
    availability_zone: zone ?? null,
  };
  try {
    populate(octavia, loadBalancer, own, caller);
  } catch (error) {
    for (const each of store.treeOf(loadBalancer)) store.remove(each);
    releaseVip(networking, vip);
    throw error;
  }
  store.loadBalancers.set(loadBalancer.id, loadBalancer);
  return loadBalancer;
}

/** The listeners and pools of a populated POST. */
function populate(octavia: Octavia, loadBalancer: FakeLoadBalancer, given: Attributes, caller: Caller): void {
  const listsOf = (name: string): readonly Attributes[] => (given[name] as readonly Attributes[] | undefined) ?? [];
  for (const each of listsOf('pools')) {
    const pool = addPool(octavia, loadBalancer, undefined, checkAttributes('pool child', each), caller);
    addPoolChildren(octavia, loadBalancer, pool, each, caller);
  }
  for (const each of listsOf('listeners')) {
    const { default_pool: inner, ...own } = checkAttributes('listener child', each);
    const listener = addListener(octavia, loadBalancer, own, caller);
    if (inner == null) continue;
    const attributes = checkAttributes('pool child', inner as Attributes);
    const pool = addPool(octavia, loadBalancer, listener, attributes, caller);
    addPoolChildren(octavia, loadBalancer, pool, attributes, caller);
  }
}
