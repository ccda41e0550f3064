import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { BackEnd, LoadBalancerService, NodeAddress } from '@outrigger/cloud-provider';
import type { Node } from '@outrigger/kube';
import { BackEndSet } from './back-end-set.ts';
import { identityOf } from './load-balancer-service.ts';
import { nodeOf } from './rig.suite.ts';

const provider = { providerName: 'memory', isDefault: true };
const service = (name: string): LoadBalancerService => identityOf({ metadata: { name } });
const put = (set: BackEndSet, node: Node): boolean =>
  set.note({ type: 'add', key: node.metadata?.name ?? '', object: node });

function setOf(count: number, select?: (service: LoadBalancerService, all: readonly BackEnd[]) => readonly BackEnd[]) {
  const set = new BackEndSet(provider, select ? { selectBackEnds: select } : {});
  for (let i = count; i > 0; i--) put(set, nodeOf(`n${i}`));
  return set;
}

test('back ends are in the order of their names, and without those of others', () => {
  const set = setOf(3);
  put(set, nodeOf('n0', { spec: { providerID: 'aws:///n0' } }));
  assert.deepEqual(
    set.all.map(({ node }) => node.name),
    ['n1', 'n2', 'n3'],
  );
});

test('a heartbeat changes nothing: set and members stay the same objects', () => {
  const set = setOf(3);
  const { all } = set;
  put(set, nodeOf('n1', { status: { addresses: [{ type: 'InternalIP', address: '10.0.0.1' }], conditions: [] } }));
  assert.equal(set.all, all);
  put(set, nodeOf('n1', { metadata: { annotations: { seen: 'now' } } }));
  assert.notEqual(set.all, all);
  assert.equal(set.all[1], all[1]);
  assert.equal(set.all[0]?.addresses, all[0]?.addresses);
});

test('what the cloud confirms of the addresses counts from the next heartbeat on', () => {
  const ofCloud = new Map<string, readonly NodeAddress[]>();
  const set = new BackEndSet(provider, {}, ({ metadata }) => ofCloud.get(metadata?.name ?? ''));
  const heartbeat = (): boolean => set.note({ type: 'add', key: 'n1', object: nodeOf('n1') });
  assert.equal(heartbeat(), false);
  const [claimed] = set.all;
  assert.ok((claimed?.addresses.length ?? 0) > 0);
  ofCloud.set('n1', [{ type: 'InternalIP', address: '192.0.2.1' }]);
  assert.equal(heartbeat(), true);
  assert.deepEqual(set.all[0]?.addresses, []);
  assert.equal(heartbeat(), false);
});

test('a node that goes, or takes no traffic any more, is left out', () => {
  const set = setOf(3);
  set.note({ type: 'delete', key: 'n1', previous: nodeOf('n1') });
  put(set, nodeOf('n2', { metadata: { labels: { 'node.kubernetes.io/exclude-from-external-load-balancers': '' } } }));
  assert.deepEqual(
    set.all.map(({ node }) => node.name),
    ['n3'],
  );
});

test('Services with the same selection share one array; all nodes are the set itself', () => {
  const set = setOf(4, ({ name }, all) => all.filter((_, i) => name === 'all' || i % 2 === 0));
  assert.equal(set.select(service('all')), set.all);
  assert.equal(set.select(service('a')), set.select(service('b')));
  assert.equal(set.select(service('a')).length, 2);
});

test('a Service is selected for once, until a node or the configuration changes', () => {
  let selections = 0;
  let wanted = 'n1';
  const set = setOf(3, (_service, all) => {
    selections += 1;
    return all.filter(({ node }) => node.name === wanted);
  });
  const names = (): readonly string[] => set.select(one).map(({ node }) => node.name);
  const one = service('one');
  assert.deepEqual([names(), names(), selections], [['n1'], ['n1'], 1]);
  put(set, nodeOf('n2'));
  assert.deepEqual([names(), selections], [['n1'], 1], 'nothing has changed');
  put(set, nodeOf('n4'));
  assert.deepEqual([names(), selections], [['n1'], 2]);
  wanted = 'n2';
  set.forgetSelections();
  assert.deepEqual([names(), names(), selections], [['n2'], ['n2'], 3]);
});
