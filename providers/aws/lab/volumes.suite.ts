/** Zones of volumes, on any cloud that speaks as EC2 does. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { VolumeRef } from '@outrigger/cloud-provider';
import { createAwsVolumes } from '../src/volumes/aws-volumes.ts';
import { scenarioOf, type StartCloud } from './scenario-cloud.ts';
import { LAB_REGION } from './seed-account.ts';

function volume(handle: string, source: string = 'awsElasticBlockStore'): VolumeRef {
  return { name: handle, uid: `uid-${handle}`, source, handle };
}

export function volumeScenarios(name: string, start: StartCloud): void {
  test(`${name}: the zones of all volumes by one request, however their IDs are written; one that is not there fails none`, async (t) => {
    const opened = await scenarioOf(start, t);
    if (!opened) return;
    const [a, b] = [await opened.cloud.addVolume(`${LAB_REGION}a`), await opened.cloud.addVolume(`${LAB_REGION}b`)];
    const volumes = createAwsVolumes(opened.setup);
    const asked = [
      volume(a),
      volume(`aws://${LAB_REGION}a/${b}`),
      volume(`aws:///${b}`),
      volume('vol-00000000000000000'),
      volume('not-a-volume'),
      volume(a, 'flexVolume'),
    ];
    const at = (letter: string) => ({
      kind: 'found',
      labels: {
        'topology.kubernetes.io/zone': LAB_REGION + letter,
        'topology.kubernetes.io/region': LAB_REGION,
      },
    });
    const unknown = { kind: 'unknown' };
    const found = await volumes.lookUp(asked, opened.call());
    assert.deepEqual(found, [at('a'), at('b'), at('b'), unknown, unknown, unknown]);
    assert.deepEqual(opened.sent, ['DescribeVolumes']);
    assert.deepEqual(await volumes.lookUp([volume('not-a-volume')], opened.call()), [unknown]);
    assert.deepEqual(opened.sent, ['DescribeVolumes'], 'nobody is asked for what is none of EC2');
  });
}
