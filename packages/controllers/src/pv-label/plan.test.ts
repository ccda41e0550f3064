import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CloudError } from '@outrigger/cloud-provider';
import { planVolume } from './plan.ts';
import { BETA_ZONE, found, inZone, REGION, volumeOf, ZONE } from './pv-label-rig.suite.ts';

const both = { [ZONE]: 'a', [REGION]: 'region-1' };

test('a volume without topology gets labels and a node affinity', () => {
  const plan = planVolume(volumeOf('v'), inZone('a'));
  assert.deepEqual(plan, {
    kind: 'add',
    additions: {
      labels: both,
      requirements: [
        { key: ZONE, operator: 'In', values: ['a'] },
        { key: REGION, operator: 'In', values: ['region-1'] },
      ],
    },
  });
});

test('several zones are one label and several values', () => {
  const plan = planVolume(volumeOf('v'), found({ [ZONE]: 'a__b' }));
  assert.ok(plan.kind === 'add');
  assert.deepEqual(plan.additions, {
    labels: { [ZONE]: 'a__b' },
    requirements: [{ key: ZONE, operator: 'In', values: ['a', 'b'] }],
  });
});

test('only what is missing is added', () => {
  const additionsOf = (...args: Parameters<typeof planVolume>): unknown => {
    const plan = planVolume(...args);
    return plan.kind === 'add' ? [Object.keys(plan.additions.labels), plan.additions.requirements.length] : plan.kind;
  };
  assert.deepEqual(additionsOf(volumeOf('v', { labels: both }), inZone('a')), [[], 2]);
  assert.deepEqual(additionsOf(volumeOf('v', { affinity: ['z'] }), inZone('a')), [[ZONE, REGION], 0]);
  assert.deepEqual(additionsOf(volumeOf('v', { labels: { [ZONE]: 'a' } }), inZone('a')), [[REGION], 2]);
  assert.deepEqual(additionsOf(volumeOf('v', { labels: { [BETA_ZONE]: 'a' } }), inZone('a')), [[REGION], 2]);
  assert.deepEqual(additionsOf(volumeOf('v', { labels: { [ZONE]: 'b__a' } }), inZone('a__b')), [[REGION], 2]);
});

test('the cloud is not asked about what is complete, going away, or in no cloud', () => {
  const reasonOf = (...args: Parameters<typeof volumeOf>): string => {
    const plan = planVolume(volumeOf(...args), undefined);
    return plan.kind === 'nothing' ? plan.reason : plan.kind;
  };
  assert.equal(reasonOf('v', { labels: both, affinity: ['a'] }), 'complete');
  assert.equal(reasonOf('v', { deletionTimestamp: '2026-01-01T00:00:00Z' }), 'going-away');
  const csi = { driver: 'ebs.csi.aws.com', volumeHandle: 'vol-1' };
  assert.equal(reasonOf('v', { source: { csi } }), 'no-cloud-volume');
  assert.equal(reasonOf('v', { source: { hostPath: { path: '/' } } }), 'no-cloud-volume');
  assert.equal(reasonOf('v', { source: { flexVolume: { driver: 'x/y' } } }), 'no-cloud-volume');
});

test('what is asked about names source, driver and handle', () => {
  const askedOf = (source: Readonly<Record<string, unknown>>): unknown => {
    const plan = planVolume(volumeOf('v', { source }), undefined);
    return plan.kind === 'look-up' ? plan.volume : plan.kind;
  };
  const ref = { name: 'v', uid: 'uid-v' };
  assert.deepEqual(askedOf({ cinder: { volumeID: 'c' } }), { ...ref, source: 'cinder', handle: 'c' });
  assert.deepEqual(askedOf({ awsElasticBlockStore: { volumeID: 'vol-1' } }), {
    ...ref,
    source: 'awsElasticBlockStore',
    handle: 'vol-1',
  });
  assert.deepEqual(askedOf({ azureDisk: { diskName: 'd', diskURI: '/d' } }), {
    ...ref,
    source: 'azureDisk',
    handle: '/d',
  });
  assert.deepEqual(askedOf({ gcePersistentDisk: { pdName: 'p' } }), {
    ...ref,
    source: 'gcePersistentDisk',
    handle: 'p',
  });
  assert.deepEqual(askedOf({ vsphereVolume: { volumePath: '[ds] v' } }), {
    ...ref,
    source: 'vsphereVolume',
    handle: '[ds] v',
  });
});

test('where the object says otherwise than the cloud nothing is added, not even the rest', () => {
  const differences = [{ key: ZONE, volume: 'mine', cloud: 'a' }];
  assert.deepEqual(planVolume(volumeOf('v', { labels: { [ZONE]: 'mine' } }), inZone('a')), {
    kind: 'differs',
    differences,
  });
  const beta = planVolume(volumeOf('v', { labels: { [BETA_ZONE]: 'mine' } }), inZone('a'));
  assert.deepEqual(beta, { kind: 'differs', differences });
});

test('what the API server would refuse, what is unknown, and what failed add nothing', () => {
  assert.deepEqual(planVolume(volumeOf('v'), found({ [ZONE]: 'a b', [REGION]: 'r' })), {
    kind: 'invalid',
    labels: [`${ZONE}=a b`],
  });
  assert.equal(planVolume(volumeOf('v'), found({ [ZONE]: 'a__-b' })).kind, 'invalid');
  assert.equal(planVolume(volumeOf('v'), { kind: 'unknown' }).kind, 'nothing');
  assert.equal(planVolume(volumeOf('v'), found({ 'other.example/label': 'x', [ZONE]: '' })).kind, 'nothing');
  const error = new CloudError('unavailable', 'no');
  assert.deepEqual(planVolume(volumeOf('v'), { kind: 'failed', error }), { kind: 'failed', error });
});
