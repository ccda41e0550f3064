import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { LoadBalancerService } from '@outrigger/cloud-provider';
import type { ApiClient, Query } from '../../client/api-client.ts';
import { Home } from '../../home.ts';
import { LearnedFacts } from '../learned-facts.ts';
import { ownerTag } from '../ownership.ts';
import { configOf, idOf, serviceOf } from '../desired/tree-inputs.suite.ts';
import { ExternalNetwork } from './floating-networks.ts';
import { LatenessTracker } from './lateness.ts';
import { Observer } from './observe.ts';
import { SubnetCidrs } from './read-lists.ts';

const cluster = { id: 'cluster-1', name: 'kubernetes' };
const still = { now: () => 0, monotonic: () => 0, sleep: () => Promise.resolve() };
const BALANCERS = 300;

const ownerOf = (i: number): { readonly clusterId: string; readonly uid: string } => ({
  clusterId: cluster.id,
  uid: idOf(`uid-${i}`),
});

interface Item {
  readonly tags?: readonly string[];
  readonly loadbalancers?: readonly { readonly id: string }[];
}

/** A project with one load balancer, one pool and one floating IP for each of 300 Services; it counts how often the marks of them are read. */
class CountedProject {
  reads = 0;
  /** That were asked for last, by what was listed. */
  readonly columns = new Map<string, readonly string[]>();
  /** Requests, by what was listed. */
  readonly requests = new Map<string, number>();

  readonly client = {
    region: undefined,
    list: <T>(_call: unknown, { collection, query = [] }: { readonly collection: string; readonly query?: Query }) => {
      const fields = query.flatMap(([name, value]) => (name === 'fields' ? [value] : []));
      this.columns.set(collection, fields);
      this.requests.set(collection, 1 + (this.requests.get(collection) ?? 0));
      const filters = new Map(query);
      const tags = filters.get('tags-any')?.split(',');
      const above = filters.get('loadbalancer_id');
      const isAskedFor = (item: Item): boolean =>
        (tags === undefined || tags.some((tag) => item.tags?.includes(tag))) &&
        (above === undefined || item.loadbalancers?.some(({ id }) => id === above) === true);
      const items: readonly object[] = this.#items(collection).filter(isAskedFor);
      return Promise.resolve(items as readonly T[]);
    },
    request: () => Promise.reject(new Error('nothing is asked for by its ID')),
    hasService: () => Promise.resolve(true),
    maxMicroversion: () => Promise.resolve('2.26'),
    networkExtensions: () => Promise.resolve(new Set<string>()),
  } satisfies ApiClient;

  #items(collection: string): readonly object[] {
    const counted = (item: object, marks: object): object => {
      const properties = Object.entries(marks).map(([key, value]) => [
        key,
        { enumerable: true, get: () => (this.reads++, value as unknown) },
      ]);
      return Object.defineProperties(item, Object.fromEntries(properties) as PropertyDescriptorMap);
    };
    return Array.from({ length: BALANCERS }, (_, i): object => {
      const id = idOf(`lb-${i}`);
      const tags = [ownerTag(ownerOf(i))];
      switch (collection) {
        case 'loadbalancers': {
          const vip = { vip_address: `10.0.${i >> 8}.${i & 255}`, vip_port_id: idOf(`vip-${i}`), vip_subnet_id: null };
          return counted({ id, name: `lb-${i}`, provisioning_status: 'ACTIVE', provider: 'amphora', ...vip }, { tags });
        }
        case 'floatingips': {
          const description = `web [${ownerTag(ownerOf(i))}]`;
          const address = { floating_ip_address: `172.24.${i >> 8}.${i & 255}`, port_id: idOf(`vip-${i}`) };
          return counted({ id: idOf(`fip-${i}`), ...address }, { description });
        }
        case 'pools': {
          const pool = { id: idOf(`pool-${i}`), name: '', provisioning_status: 'ACTIVE', protocol: 'TCP', tags };
          const below = { lb_algorithm: 'ROUND_ROBIN', session_persistence: null, healthmonitor_id: null };
          return counted(
            { ...pool, ...below, members: [{ id: idOf(`m-${i}`) }], listeners: [] },
            { loadbalancers: [{ id }] },
          );
        }
        default:
          return {};
      }
    }).filter((one) => 'id' in one);
  }
}

const servicesOf = (count: number): readonly LoadBalancerService[] =>
  Array.from({ length: count }, (_, i) => serviceOf({ uid: ownerOf(i).uid, name: `web-${i}` }));

interface Looked {
  readonly reads: number;
  readonly wishes: number;
  readonly columns: CountedProject['columns'];
  /** Of each look. */
  readonly requests: readonly Readonly<Record<string, number>>[];
}

async function look(count: number, ...next: readonly number[]): Promise<Looked> {
  const project = new CountedProject();
  let wishes = 0;
  const observer = new Observer({
    lateness: new LatenessTracker(still),
    client: project.client,
    clock: still,
    home: new Home(),
    cluster,
    previousClusterName: undefined,
    facts: new LearnedFacts(still),
    externalNetwork: new ExternalNetwork(still),
    subnets: new SubnetCidrs(),
    config: () => configOf(),
    floatingWish: () => {
      wishes++;
      return { kind: 'none', keep: false };
    },
  });
  const call = { signal: new AbortController().signal } as Parameters<Observer['observe']>[1];
  const requests: Readonly<Record<string, number>>[] = [];
  for (const asked of [count, ...next]) {
    project.requests.clear();
    const seen = await observer.observe(servicesOf(asked), call);
    assert.equal(seen.length, asked);
    for (const [i, one] of seen.entries()) {
      assert.deepEqual(one.kind === 'parts' ? one.parts.map(({ kind, id }) => [kind, id]) : one, [
        ['load-balancer', idOf(`lb-${i}`)],
        ['floating-ip', idOf(`fip-${i}`)],
      ]);
    }
    requests.push(Object.fromEntries(project.requests));
  }
  return { reads: project.reads, wishes, columns: project.columns, requests };
}

test('what is listed is read once a look, and not once for each of its Services', async () => {
  const { reads: few } = await look(5);
  const { reads: many } = await look(100);
  // Each Service reads the marks of its own parts some more times.
  assert.ok(few <= 3 * BALANCERS + 5 * 10, `${few} reads for 5 Services`);
  assert.ok(many <= 3 * BALANCERS + 100 * 10, `${many} reads for 100 Services`);
});

test('of what there may be many, the columns that are read are asked for, and no others', async () => {
  const { columns } = await look(5);
  assert.deepEqual([...columns.keys()].toSorted(), [
    'floatingips',
    'listeners',
    'loadbalancers',
    'members',
    'pools',
    'security_groups',
  ]);
  for (const [collection, names] of columns) {
    assert.ok(names.includes('id') && names.includes('name') !== (collection === 'floatingips'), collection);
    for (const unread of ['operating_status', 'project_id', 'weight', 'security_group_rules'])
      assert.ok(!names.includes(unread), `${collection}: ${unread}`);
    assert.equal(names.includes('updated_at'), collection === 'pools');
  }
});

test('what floating IP a Service wishes is not worked out where it has one and asks for none by its address', async () => {
  assert.equal((await look(20)).wishes, 0);
});

test('once it is known how much a project has, a look at few of many reads these, and not all that there are', async () => {
  const { requests } = await look(5, 5, 9, 20);
  const [first, few, more, many] = requests;
  const others = { floatingips: 1, security_groups: 1 };
  const lists = { loadbalancers: 1, listeners: 1, pools: 1 };
  assert.deepEqual(first, { ...others, ...lists, members: 5 });
  assert.deepEqual(few, { ...others, loadbalancers: 1, listeners: 1, pools: 5, members: 5 });
  assert.deepEqual(more, { ...others, loadbalancers: 1, listeners: 1, pools: 9, members: 9 });
  assert.deepEqual(many, { ...others, ...lists, members: 20 });
});
