import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { LoadBalancerPart } from '@outrigger/cloud-provider';
import { annotationTable } from './annotation-table.ts';
import { declaredAnnotations, declaredFeatures, keepsFloatingIP, lockKeyOf, selectBackEnds } from './declared.ts';
import { annotated, backEndOf, idOf, serviceOf } from './tree-inputs.suite.ts';

test('Services of one load balancer wait for one another', () => {
  const owner = serviceOf({ uid: 'u1' });
  const shared = { annotations: annotated({ loadBalancerId: idOf('LB').toUpperCase() }) };
  assert.equal(lockKeyOf(owner), 'u1');
  assert.equal(lockKeyOf(serviceOf({ uid: 'u1', ...shared })), lockKeyOf(serviceOf({ uid: 'u2', ...shared })));
  assert.equal(lockKeyOf(serviceOf({ uid: 'u1', annotations: annotated({ loadBalancerId: '' }) })), 'u1');
  // Of an orphan only its parts are known.
  const partOf = (kind: string): LoadBalancerPart => {
    const id = lockKeyOf(serviceOf(shared));
    return { kind, id, owner: undefined, state: 'ready', attributes: {} };
  };
  for (const kind of ['load-balancer', 'shared-load-balancer'])
    assert.equal(lockKeyOf(owner, [partOf('floating-ip'), partOf(kind)]), lockKeyOf(serviceOf(shared)));
  assert.equal(lockKeyOf(owner, [partOf('floating-ip')]), 'u1');
  const sharer = serviceOf(shared);
  for (const parts of [[], [partOf('floating-ip')]])
    assert.equal(lockKeyOf(sharer, parts), sharer.uid, 'what it names is not there, or is for others alone');
  const own = { ...partOf('load-balancer'), id: idOf('own') };
  for (const parts of [
    [own, partOf('shared-load-balancer')],
    [partOf('shared-load-balancer'), own],
  ])
    assert.equal(lockKeyOf(owner, parts), lockKeyOf(serviceOf(shared)), 'others work on the one that is shared');
  const named = partOf('load-balancer');
  assert.equal(lockKeyOf(sharer, [own]), own.id, 'nothing is done to the one that it names');
  for (const kind of ['load-balancer', 'shared-load-balancer'])
    assert.equal(
      lockKeyOf(sharer, [{ ...own, kind }, named]),
      named.id,
      'the one that it leaves for another is joined',
    );
});

test('back ends are the nodes with the labels that are asked for, whoever runs them', () => {
  const env = backEndOf('env', [], { env: 'production' });
  const other = { ...env, node: { ...env.node, name: 'other', providerID: 'metal3://a/b/1' } };
  const without = { ...env, node: { ...env.node, name: 'without', providerID: undefined } };
  const all = [backEndOf('plain', []), env, other, without];
  const namesFor = (nodeSelector: string | undefined, annotation?: string) => {
    const service = serviceOf(annotation === undefined ? {} : { annotations: annotated({ nodeSelector: annotation }) });
    return selectBackEnds(service, all, { nodeSelector }).map(({ node }) => node.name);
  };
  assert.deepEqual(namesFor(undefined), ['plain', 'env', 'other', 'without']);
  assert.deepEqual(namesFor('env=production'), ['env', 'other', 'without']);
  assert.deepEqual(namesFor('env=production', '').length, 4, 'an empty annotation undoes the config');
  assert.deepEqual(namesFor(undefined, 'env'), ['env', 'other', 'without']);
});

test('nodes are gone through once for all Services of one selector, until they are others', () => {
  const all = Array.from({ length: 100 }, (_, i) => backEndOf(`node-${i}`, [], { zone: `z${i % 2}` }));
  const select = (nodeSelector: string, backEnds = all) => selectBackEnds(serviceOf({}), backEnds, { nodeSelector });
  const first = select('zone=z0');
  assert.equal(select('zone=z0'), first);
  assert.equal(select('zone=z1').length, 50);
  assert.equal(select('zone=z0', all.slice(1)).length, 49);
  // However many selectors somebody makes up.
  for (let i = 0; i < 1_000; i++) assert.deepEqual(select(`made-up-${i}`), []);
  assert.equal(select('zone=z0'), first);
});

test('source ranges are declared where something enforces them', () => {
  const rangesFor = (lbProvider: string, manageSecurityGroups: boolean) =>
    declaredFeatures({ lbProvider, manageSecurityGroups }).sourceRanges;
  assert.deepEqual([rangesFor('amphora', false), rangesFor('ovn', true), rangesFor('ovn', false)], [true, true, false]);
});

test('only what is read is declared, without our own kinds of value', () => {
  assert.ok(declaredAnnotations.every(({ name }) => name !== 'loadbalancer.openstack.org/load-balancer-address'));
  assert.ok(
    declaredAnnotations.every(
      ({ values }) => typeof values !== 'string' || ['string', 'boolean', 'integer'].includes(values),
    ),
  );
});

test('each annotation that names something of the project is marked as dangerous', () => {
  const marked = declaredAnnotations.filter(({ dangerous }) => dangerous !== undefined).map(({ name }) => name);
  const keys = [
    'floatingNetworkId',
    'floatingSubnetId',
    'floatingSubnet',
    'floatingSubnetTags',
    'networkId',
    'subnetId',
    'memberSubnetId',
    'portId',
    'tlsContainerRef',
    'loadBalancerId',
  ] as const;
  assert.deepEqual(
    marked,
    keys.map((key) => annotationTable[key].name),
  );
});

test('an address is given up only when that is certain', () => {
  const kept = [undefined, '', 'false', 'true', 'yes'].map((value) =>
    keepsFloatingIP(serviceOf(value === undefined ? {} : { annotations: annotated({ keepFloatingIP: value }) })),
  );
  assert.deepEqual(kept, [false, false, false, true, true]);
});
