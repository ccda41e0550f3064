import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { AttachedTag, InventoryObject } from '../inventory/vcenter.ts';
import { machine } from './machine.suite.ts';
import { zoneOf, zonePaths } from './zones.ts';

const objects: readonly InventoryObject[] = [
  { type: 'HostSystem', reference: 'host-1', name: 'esx-1', parent: 'domain-c1' },
  { type: 'ClusterComputeResource', reference: 'domain-c1', name: 'c1', parent: 'group-h1' },
  { type: 'Folder', reference: 'group-h1', name: 'host', parent: 'datacenter-1' },
  { type: 'Datacenter', reference: 'datacenter-1', name: 'dc1', parent: 'group-d1' },
  { type: 'Folder', reference: 'group-d1', name: 'Datacenters' },
  { type: 'ResourcePool', reference: 'resgroup-1', name: 'k8s', parent: 'resgroup-0' },
  { type: 'ResourcePool', reference: 'resgroup-0', name: 'Resources', parent: 'domain-c1' },
  { type: 'Folder', reference: 'group-v1', name: 'k8s', parent: 'group-v0' },
  { type: 'Folder', reference: 'group-v0', name: 'vm', parent: 'datacenter-1' },
];
const surroundings = new Map(objects.map((one) => [one.reference, one]));
const paths = zonePaths(machine(), surroundings);
const tag = (category: string, name: string): AttachedTag => ({ category, name });
const zone = (name: string): AttachedTag => tag('k8s-zone', name);
const region = (name: string): AttachedTag => tag('k8s-region', name);
const of = (tags: Readonly<Record<string, readonly AttachedTag[]>>): string => {
  const found = zoneOf(paths, new Map(Object.entries(tags)), { zone: 'k8s-zone', region: 'k8s-region' });
  return found ? `${found.region}/${found.zone}` : 'none';
};

test('the objects around a machine, the nearest first', () => {
  assert.deepEqual(
    paths.map((path) => path.map(({ reference }) => reference)),
    [
      ['host-1', 'domain-c1', 'group-h1', 'datacenter-1', 'group-d1'],
      ['resgroup-1', 'resgroup-0', 'domain-c1', 'group-h1', 'datacenter-1', 'group-d1'],
      ['vm-42', 'group-v1', 'group-v0', 'datacenter-1', 'group-d1'],
    ],
  );
});

const table: Readonly<Record<string, readonly [Readonly<Record<string, readonly AttachedTag[]>>, string]>> = {
  'on host and datacenter': [{ 'host-1': [zone('a')], 'datacenter-1': [region('r')] }, 'r/a'],
  'on the cluster': [{ 'domain-c1': [region('r'), zone('a'), tag('other', 'x')] }, 'r/a'],
  'the nearer one, where both are there': [
    { 'host-1': [zone('a'), region('r')], 'domain-c1': [zone('b'), region('s')] },
    'r/a',
  ],
  'one further up replaces it while the other is missing, as upstream': [
    { 'host-1': [zone('a')], 'domain-c1': [zone('b'), region('r')] },
    'r/b',
  ],
  'not after the other is there': [{ 'host-1': [zone('a')], 'domain-c1': [region('r'), zone('b')] }, 'r/a'],
  'half on the host, all on the resource pool': [
    { 'host-1': [zone('a')], 'resgroup-1': [zone('p'), region('r')] },
    'r/p',
  ],
  'on the folder of machines': [{ 'group-v1': [zone('f'), region('r')] }, 'r/f'],
  'on the machine itself': [{ 'vm-42': [zone('m'), region('r')] }, 'r/m'],
  'no path has both': [{ 'host-1': [zone('a')], 'group-v1': [region('r')] }, 'none'],
  'no tags': [{}, 'none'],
};
for (const [name, [tags, expected]] of Object.entries(table)) test(name, () => assert.equal(of(tags), expected));

test('objects that hold each other end', () => {
  const circle = new Map<string, InventoryObject>([
    ['host-1', { type: 'HostSystem', reference: 'host-1', name: 'a', parent: 'host-2' }],
    ['host-2', { type: 'HostSystem', reference: 'host-2', name: 'b', parent: 'host-1' }],
  ]);
  assert.deepEqual(
    zonePaths(machine(), circle)[0]?.map(({ reference }) => reference),
    ['host-1', 'host-2'],
  );
});
