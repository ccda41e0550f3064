import assert from 'node:assert/strict';
import { EventEmitter } from 'node:events';
import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { test } from 'node:test';
import {
  createClient,
  createTransport,
  loadConfig,
  resources,
  systemClock,
  type Client,
  type KubeObject,
  type PersistentVolume,
} from '@outrigger/kube';
import { controlPlaneOrSkip, type ControlPlane } from '@outrigger/testing';
import { parseAllDocuments } from 'yaml';
import { createMemoryCloud, createMemoryProvider, type MemoryCloud } from '../../../providers/memory/src/index.ts';
import { makeSelfSignedCertificate } from '../../controller-manager/src/serving/self-signed-certificate.ts';
import { PV_LABEL_WEBHOOK_PATH, pvLabelWebhookConfiguration } from './deploy/pv-label-webhook.ts';
import { main } from './main.ts';
import { freePort } from './program-bench.suite.ts';

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

async function until(what: string, isSo: () => boolean | Promise<boolean>): Promise<void> {
  for (let i = 0; i < 1_200; i++) {
    if (await isSo()) return;
    await systemClock.sleep(50);
  }
  assert.fail(`not within a minute: ${what}`);
}

interface Running extends AsyncDisposable {
  readonly log: () => string;
}

function run(controlPlane: ControlPlane, cloud: MemoryCloud, hostname: string, args: readonly string[]): Running {
  let log = '';
  const signals = new EventEmitter();
  const ended = main(
    [
      '--cloud-provider=memory',
      `--kubeconfig=${controlPlane.kubeconfig.path}`,
      '--secure-port=0',
      '--controllers=pvlabel',
      '-v=2',
      ...args,
    ],
    {
      builtInProviders: { memory: () => Promise.resolve({ default: () => createMemoryProvider({ cloud }) }) },
      env: {},
      stdout: { write: () => true },
      stderr: { write: (text) => void (log += text) },
      signals,
      exit: () => assert.fail('must not exit by itself'),
      workingDirectory: controlPlane.directory,
      hostname,
    },
  );
  return {
    log: () => log,
    [Symbol.asyncDispose]: async () => {
      signals.emit('SIGTERM', 'SIGTERM');
      assert.equal(await ended, 0, log);
    },
  };
}

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

async function register(client: Client, port: number, authority: string): Promise<void> {
  const configurations = client.of<KubeObject>({
    group: 'admissionregistration.k8s.io',
    version: 'v1',
    plural: 'mutatingwebhookconfigurations',
    kind: 'MutatingWebhookConfiguration',
    namespaced: false,
  });
  const shipped = await readFile(new URL('../../../deploy/pv-label-webhook.yml', import.meta.url), 'utf8');
  for (const document of parseAllDocuments(shipped)) {
    const object = document.toJS() as KubeObject;
    if (object.kind === 'Service') await client.of(resources.services).create(object, { dryRun: true });
    else await configurations.create(object, { dryRun: true });
  }
  const url = `https://127.0.0.1:${port}${PV_LABEL_WEBHOOK_PATH}`;
  const caBundle = Buffer.from(authority).toString('base64');
  await configurations.create(pvLabelWebhookConfiguration({ url, caBundle }));
}

test('volumes are labelled when they are created by a replica that does not lead, and later where that failed', async (t) => {
  const controlPlane = await controlPlaneOrSkip(t, { auditLog: false });
  if (!controlPlane) return;
  const cloud = createMemoryCloud({ clock: systemClock, random: () => 0 });
  const zones = ['zone-a', 'zone-b'];
  await using transport = createTransport(await loadConfig({ kubeconfig: controlPlane.kubeconfig.path }));
  const warnings: string[] = [];
  const client = createClient(transport, { onWarning: (text) => void warnings.push(text) });
  const volumes = client.of(resources.persistentVolumes);
  const create = async (volume: PersistentVolume): Promise<PersistentVolume> => {
    cloud.createVolume({ id: volume.metadata?.name ?? '', zones });
    return volumes.create(volume);
  };
  const isLabelled = async (name: string): Promise<boolean> => {
    const { metadata, spec } = await volumes.get({ name });
    return metadata?.labels?.[ZONE] === LABELS[ZONE] && spec?.nodeAffinity !== undefined;
  };

  const port = await freePort();
  const certificate = await makeSelfSignedCertificate(systemClock, []);
  const [certFile, keyFile] = ['tls.crt', 'tls.key'].map((name) => path.join(controlPlane.directory, name));
  await writeFile(certFile ?? '', certificate.cert);
  await writeFile(keyFile ?? '', certificate.key);

  await using leader = run(controlPlane, cloud, 'leader', []);
  await until('a leader', () => leader.log().includes('Became leader'));
  const follower = run(controlPlane, cloud, 'follower', [
    '--feature-gates=CloudControllerManagerWebhook=true',
    '--webhooks=*',
    '--webhook-bind-address=127.0.0.1',
    `--webhook-secure-port=${port}`,
    `--webhook-tls-cert-file=${certFile}`,
    `--webhook-tls-private-key-file=${keyFile}`,
  ]);
  {
    await using _follower = follower;
    await until('a webhook', () => follower.log().includes('Serving webhooks'));
    await register(client, port, certificate.cert);
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
    cloud.setFaults([{ operation: 'POST /volumes', effect: 'status', status: 500 }]);
    const unlabelled = await create(volumeOf('failing'));
    assert.equal(unlabelled.metadata?.labels, undefined);
    assert.match(warnings.join(), /could not say where the volume can be used/u);
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
