import assert from 'node:assert/strict';
import { test } from 'node:test';
import { resources, systemClock, type PersistentVolume } from '@outrigger/kube';
import { clientOf, controlPlaneOrSkip } from '@outrigger/testing';
import { createMemoryCloud } from '../../../../providers/memory/src/index.ts';
import { PV_LABEL_WEBHOOK_PATH, pvLabelWebhookConfiguration } from '../deploy/pv-label-webhook.ts';
import { prepareListener, register, runReplica, until } from './webhook-bench.suite.ts';

const ZONE = 'topology.kubernetes.io/zone';
const REGION = 'topology.kubernetes.io/region';
const LABELS = { [ZONE]: 'zone-a__zone-b', [REGION]: 'region-1' };
const AFFINITY = {
  required: {
    nodeSelectorTerms: [
      {
        matchExpressions: [
          { key: ZONE, operator: 'In', values: ['zone-a', 'zone-b'] },
          { key: REGION, operator: 'In', values: ['region-1'] },
        ],
      },
    ],
  },
};

function volumeOf(name: string, source: object = flexVolume(name), labels?: Record<string, string>): PersistentVolume {
  return {
    apiVersion: 'v1',
    kind: 'PersistentVolume',
    metadata: { name, ...(labels && { labels }) },
    spec: { capacity: { storage: '1Gi' }, accessModes: ['ReadWriteOnce'], ...source },
  };
}

function flexVolume(volumeID: string): object {
  return { flexVolume: { driver: 'outrigger.dev/memory', options: { volumeID } } };
}

test('volumes are labelled when they are created by a replica that does not lead, and later where that failed', async (t) => {
  const controlPlane = await controlPlaneOrSkip(t, { auditLog: false });
  if (!controlPlane) return;
  const cloud = createMemoryCloud({ clock: systemClock, random: () => 0 });
  const zones = ['zone-a', 'zone-b'];
  const warnings: string[] = [];
  await using client = await clientOf(controlPlane.kubeconfig.path, {
    onWarning: (text) => void warnings.push(text),
  });
  const volumes = client.of(resources.persistentVolumes);
  const create = async (volume: PersistentVolume): Promise<PersistentVolume> => {
    cloud.createVolume({ id: volume.metadata?.name ?? '', zones });
    return volumes.create(volume);
  };
  const isLabelled = async (name: string): Promise<boolean> => {
    const { metadata, spec } = await volumes.get({ name });
    return metadata?.labels?.[ZONE] === LABELS[ZONE] && spec?.nodeAffinity !== undefined;
  };

  const listener = await prepareListener(controlPlane, '*');
  await using leader = runReplica(controlPlane, cloud, 'leader', []);
  await until('a leader', () => leader.log().includes('Became leader'));
  const follower = runReplica(controlPlane, cloud, 'follower', listener.flags);
  {
    await using _follower = follower;
    await until('a webhook', () => follower.log().includes('Serving webhooks'));
    const configuration = pvLabelWebhookConfiguration(listener.clientConfig(PV_LABEL_WEBHOOK_PATH));
    await register(client, configuration, 'pv-label-webhook.yml');
    // The API server hears of its own object some time later.
    let tries = 0;
    await until('the webhook is called', async () => {
      const { metadata, spec } = await create(volumeOf(`probe-${tries++}`));
      if (metadata?.labels === undefined) return false;
      assert.deepEqual([metadata.labels, spec?.nodeAffinity], [LABELS, AFFINITY]);
      return true;
    });

    const mine = await create(volumeOf('mine', undefined, { [ZONE]: LABELS[ZONE], app: 'a' }));
    assert.deepEqual([mine.metadata?.labels, mine.spec?.nodeAffinity], [{ ...LABELS, app: 'a' }, AFFINITY]);
    const other = await create(volumeOf('other', undefined, { [ZONE]: 'zone-c' }));
    assert.deepEqual([other.metadata?.labels, other.spec?.nodeAffinity], [{ [ZONE]: 'zone-c' }, undefined]);
    assert.match(warnings.join(), /Labels differ/u);
    const csi = { csi: { driver: 'csi.example.com', volumeHandle: 'csi' } };
    const spoken = await create(volumeOf('csi', csi));
    assert.deepEqual([spoken.metadata?.labels, spoken.spec?.nodeAffinity], [undefined, undefined]);

    warnings.length = 0;
    // Not one that is asked again: the pauses of a slow machine could take all the time for the answer.
    cloud.setFaults([{ operation: 'POST /volumes', effect: 'status', status: 403 }]);
    const unlabelled = await create(volumeOf('failing'));
    assert.equal(unlabelled.metadata?.labels, undefined);
    assert.match(warnings.join(), /look-up of the volume's topology failed/u);
    cloud.setFaults([]);
    await until('the controller labels what the webhook could not', () => isLabelled('failing'));
    assert.ok(!follower.log().includes('Became leader'));
  }

  // The webhook is gone, and its configuration is still there.
  const created = await create(volumeOf('alone'));
  assert.equal(created.metadata?.labels, undefined);
  await until('the controller labels it', () => isLabelled('alone'));
  const { metadata } = await volumes.get({ name: 'other' });
  assert.deepEqual(metadata?.labels, { [ZONE]: 'zone-c' });
});
