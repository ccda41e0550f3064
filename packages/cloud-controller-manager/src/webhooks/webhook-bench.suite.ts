/** For tests of webhooks: the program within the test, its listener, and how a real API server is told of it. */
import assert from 'node:assert/strict';
import { EventEmitter } from 'node:events';
import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { resources, systemClock, type Client, type KubeObject } from '@outrigger/kube';
import { freePort, type ControlPlane } from '@outrigger/testing';
import { parseAllDocuments } from 'yaml';
import { createMemoryProvider, type MemoryCloud } from '../../../../providers/memory/src/index.ts';
import { makeSelfSignedCertificate } from '../../../controller-manager/src/serving/self-signed-certificate.ts';
import type { WebhookClientConfig } from '../deploy/webhook-service.ts';
import { main } from '../program/main.ts';

export async function until(what: string, isSo: () => boolean | Promise<boolean>): Promise<void> {
  const began = systemClock.monotonic();
  while (!(await isSo())) {
    if (systemClock.monotonic() - began > 300_000) assert.fail(`not within five minutes: ${what}`);
    await systemClock.sleep(50);
  }
}

export interface Replica extends AsyncDisposable {
  readonly log: () => string;
}

/** One that has the volume label controller and no other. Disposed of, it must have ended with 0. */
export function runReplica(
  controlPlane: ControlPlane,
  cloud: MemoryCloud,
  hostname: string,
  args: readonly string[],
): Replica {
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

export interface WebhookListener {
  readonly flags: readonly string[];
  /** For the API server. */
  readonly clientConfig: (path: string) => WebhookClientConfig;
}

/** A certificate and a port for the webhooks of one replica. */
export async function prepareListener(controlPlane: ControlPlane, webhooks: string): Promise<WebhookListener> {
  const port = await freePort();
  const { cert, key } = await makeSelfSignedCertificate(systemClock, []);
  const fileOf = (name: string): string => path.join(controlPlane.directory, name);
  await writeFile(fileOf('tls.crt'), cert);
  await writeFile(fileOf('tls.key'), key);
  return {
    flags: [
      '--feature-gates=CloudControllerManagerWebhook=true',
      `--webhooks=${webhooks}`,
      '--webhook-bind-address=127.0.0.1',
      `--webhook-secure-port=${port}`,
      `--webhook-tls-cert-file=${fileOf('tls.crt')}`,
      `--webhook-tls-private-key-file=${fileOf('tls.key')}`,
    ],
    clientConfig: (at) => ({ url: `https://127.0.0.1:${port}${at}`, caBundle: Buffer.from(cert).toString('base64') }),
  };
}

/** As long as an API server waits at most. Shipped is less, which a machine that is busy may need for its own part of a review. */
const PATIENCE_SECONDS = 30;

interface WebhookConfiguration extends KubeObject {
  readonly webhooks?: readonly object[];
}

/** `shipped`: a file below `deploy/`, which the API server must take too. */
export async function register(client: Client, configuration: object, shipped: string): Promise<void> {
  const text = await readFile(new URL(`../../../../deploy/${shipped}`, import.meta.url), 'utf8');
  for (const document of parseAllDocuments(text)) {
    const object = document.toJS() as KubeObject;
    if (object.kind === 'Service') await client.of(resources.services).create(object, { dryRun: true });
    else await configurationsOf(client, object).create(object, { dryRun: true });
  }
  const { webhooks = [], ...rest } = configuration as WebhookConfiguration;
  const patient = { ...rest, webhooks: webhooks.map((webhook) => ({ ...webhook, timeoutSeconds: PATIENCE_SECONDS })) };
  await configurationsOf(client, patient).create(patient);
}

function configurationsOf(client: Client, { kind = '' }: KubeObject): ReturnType<typeof client.of<KubeObject>> {
  return client.of<KubeObject>({
    group: 'admissionregistration.k8s.io',
    version: 'v1',
    plural: `${kind.toLowerCase()}s`,
    kind,
    namespaced: false,
  });
}
