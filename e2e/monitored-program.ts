/** The whole program with much to do and much that fails: so that its metrics have all series that there can be. */
import assert from 'node:assert/strict';
import { EventEmitter } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { main } from '@outrigger/cloud-controller-manager';
import { createTransport, resources, systemClock, type Client } from '@outrigger/kube';
import { createMemoryCloud, createMemoryProvider, type MemoryCloud } from '@outrigger/provider-memory';
import { clientOf, freePort, hollowNode, startEmbeddedApiServer } from '@outrigger/testing';
import { quickClock } from './quick-clock.ts';
import { servingRequest } from './serving-requests.ts';

/** Waits of seconds are over sooner; nothing else depends on it. */
const FACTOR = 5;
const PATIENCE_MS = 300_000;

const FLAGS = [
  '--controllers=*,node-ipam-controller,kubelet-serving-approver',
  '--allocate-node-cidrs',
  // Two ranges, for three nodes.
  '--cluster-cidr=10.244.0.0/23',
  '--node-cidr-mask-size=24',
  '--orphan-check-period=1s',
  '--orphan-policy=delete',
  '--orphan-grace-period=0s',
  '--node-deletion-grace-period=1s',
  // The clock is quick, and the machine may be slow.
  '--leader-elect-lease-duration=600s',
  '--leader-elect-renew-deadline=500s',
  '--bind-address=127.0.0.1',
];

/** Each of these begins a line that appears only once something has happened. */
export const EVERY_SERIES: readonly string[] = [
  'cloudprovider_api_throttled_requests_total{',
  'kubernetes_healthchecks_total{',
  'node_ipam_controller_cidrset_cidrs_allocations_total{',
  'outrigger_kubelet_serving_requests_pending{',
  'outrigger_load_balancer_actions_total{action="create",part="address",result="failed"}',
  'outrigger_node_initialization_waits_total{',
  'outrigger_node_ipam_cidr_not_available_total',
  'outrigger_orphan_passes_total{result="complete"}',
  'outrigger_orphan_passes_total{result="partial"}',
  'outrigger_orphan_removals_total{',
  'outrigger_reload_successful{',
  'outrigger_route_operations_total{operation="create",result="failed"}',
];

export interface Scrape {
  /** `/metrics` and `/metrics/slis`. */
  readonly pages: readonly string[];
  /** One after the other. */
  readonly text: string;
  readonly log: string;
}

/**
 * Runs it until lines that begin with each of `awaited` are there. `providers`: names of several; without, one that is the memory
 * cloud by its own name.
 */
export async function scrapeProgram(awaited: readonly string[], providers: readonly string[] = []): Promise<Scrape> {
  await using server = await startEmbeddedApiServer();
  const directory = await mkdtemp(join(tmpdir(), 'outrigger-monitored-'));
  await using stack = new AsyncDisposableStack();
  stack.defer(() => rm(directory, { recursive: true }));
  const kubeconfig = join(directory, 'kubeconfig');
  const cloudConfig = join(directory, 'cloud.json');
  await writeFile(kubeconfig, server.kubeconfig('certificate').yaml);
  await writeFile(cloudConfig, '{}');
  const cloud = createMemoryCloud({ clock: systemClock, random: () => 0.5 });
  await prepare(stack.use(await clientOf(kubeconfig)), cloud);

  const several = providers.map((name) => `${name}=memory`).join();
  const signals = new EventEmitter();
  const port = await freePort();
  let log = '';
  const ended = main(
    [
      `--cloud-provider=${several || 'memory'}`,
      `--cloud-config=${providers.length === 0 ? cloudConfig : providers.map((name) => `${name}=${cloudConfig}`).join()}`,
      `--kubeconfig=${kubeconfig}`,
      `--secure-port=${port}`,
      ...FLAGS,
    ],
    {
      builtInProviders: {
        memory: () => Promise.resolve({ default: (given: object) => createMemoryProvider({ ...given, cloud }) }),
      },
      env: {},
      stdout: { write: () => true },
      stderr: { write: (text) => void (log += text) },
      signals,
      exit: (code) => assert.fail(`exit ${code}\n${log}`),
      workingDirectory: directory,
      hostname: 'test',
      clock: quickClock(FACTOR),
    },
  );
  const asked = stack.use(createTransport({ server: `https://127.0.0.1:${port}`, tls: { insecureSkipVerify: true } }));
  let isRunning = true;
  void ended.finally(() => (isRunning = false));
  const deadline = systemClock.monotonic() + PATIENCE_MS;
  try {
    for (;;) {
      await page(asked, '/healthz');
      const pages = [await page(asked, '/metrics'), await page(asked, '/metrics/slis')];
      const text = pages.join('\n');
      const missing = awaited.filter((start) => !text.split('\n').some((line) => line.startsWith(start)));
      if (missing.length === 0) return { pages, text, log };
      assert.ok(
        isRunning && systemClock.monotonic() < deadline,
        `not seen: ${missing.join(', ')}\n${text}\n${log.slice(-6000)}`,
      );
      await systemClock.sleep(100);
    }
  } finally {
    signals.emit('SIGTERM', 'SIGTERM');
    assert.equal(await ended, 0, log);
  }
}

async function prepare(client: Client, cloud: MemoryCloud): Promise<void> {
  const nodes = client.of(resources.nodes);
  const { metadata } = await client.of(resources.namespaces).get({ name: 'kube-system' });
  for (const name of ['node-1', 'node-2', 'node-3']) {
    cloud.createInstance({ name });
    await nodes.create(hollowNode({ name, images: 1 }));
  }
  await nodes.create(hollowNode({ name: 'unknown-to-the-cloud', images: 1 }));
  const { request } = await servingRequest({ node: 'unknown-to-the-cloud', dns: ['n'], ips: [] });
  await client.of(resources.certificateSigningRequests).create({
    apiVersion: 'certificates.k8s.io/v1',
    kind: 'CertificateSigningRequest',
    metadata: { name: 'unconfirmed' },
    spec: {
      signerName: 'kubernetes.io/kubelet-serving',
      username: 'system:node:unknown-to-the-cloud',
      groups: ['system:nodes'],
      usages: ['digital signature', 'server auth'],
      request,
    },
  });
  const old = cloud.createInstance({ name: 'old' });
  cloud.createRoute({
    destination: '10.99.0.0/24',
    instanceId: old.id,
    nodeName: 'old',
    clusterId: metadata?.uid ?? '',
  });
  cloud.deleteInstance(old.id);
  for (const name of ['web', 'api']) {
    await client.of(resources.services).create({
      metadata: { name, namespace: 'default' },
      spec: { type: 'LoadBalancer', ports: [{ port: 80 }], selector: { app: name } },
    });
  }
  // Refusals that nobody tries again, but for the first.
  cloud.setFaults([
    { operation: 'POST /instances', nth: 1, effect: 'status', status: 429 },
    { operation: 'POST /parts', nth: 1, effect: 'status', status: 403 },
    { operation: 'POST /routes:batchCreate', nth: 1, effect: 'status', status: 403 },
    // Some of these are the orphan controller's.
    ...[4, 6, 8, 10, 12].map((nth) => ({ operation: 'GET /routes', nth, effect: 'status' as const, status: 403 })),
  ]);
}

async function page(transport: ReturnType<typeof createTransport>, path: string): Promise<string> {
  try {
    const { body } = await transport.send({ method: 'GET', path });
    return Buffer.concat(await Array.fromAsync(body)).toString();
  } catch {
    // It does not listen yet.
    return '';
  }
}
