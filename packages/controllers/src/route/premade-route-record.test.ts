/** Where the right to create ConfigMaps is not granted, a person makes that of the record, as the guide to hardening says. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { StatusError } from '@outrigger/kube';
import { addressedNode, CLUSTER, UnmarkedRig } from './unmarked-rig.suite.ts';

test('an empty ConfigMap that is there already becomes the record, without the right to create one', async () => {
  await using rig = new UnmarkedRig();
  rig.configMap = {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: 'outrigger-routes', namespace: 'kube-system', resourceVersion: '1' },
  };
  rig.beforeRecord = (verb) => {
    if (verb === 'create') throw new StatusError('configmaps', 403, { reason: 'Forbidden', code: 403 });
  };
  rig.api.put(addressedNode('a', ['10.0.1.0/24'], '192.168.0.1'));
  await rig.start();
  assert.deepEqual(rig.routes, ['10.0.1.0/24 via 192.168.0.1']);
  assert.deepEqual(rig.recorded, ['10.0.1.0/24 192.168.0.1']);
  assert.equal(rig.configMap.data?.['cloud.cluster-id'], CLUSTER);
  assert.deepEqual(rig.events, []);
});
