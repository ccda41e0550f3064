/** Runs the cluster suite against managers, one after the other on one API server. */
import assert from 'node:assert/strict';
import { EventEmitter } from 'node:events';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { newCloudControllerManager } from '@outrigger/cloud-controller-manager';
import { runClusterTests, type ClusterRun, type RunClusterOptions } from '@outrigger/conformance';
import { resources, systemClock, type Client } from '@outrigger/kube';
import { createMemoryCloud, serveMemoryCloud } from '@outrigger/provider-memory';
import type { BrokenManager } from './broken-managers.ts';
import { memoryClusterFixture } from './memory-cluster-fixture.ts';
import { SpoilingApi, type ApiServer } from './spoiling-api.ts';

const manager = newCloudControllerManager({ providers: { memory: () => import('@outrigger/provider-memory') } });

/** Starts a manager on this cluster and this cloud, which ends with its disposal. */
export type StartManager = (kubeconfig: string, cloudConfig: string, directory: string) => Promise<AsyncDisposable>;

/** Ours, as a whole, in this process. */
export const startOurs: StartManager = (kubeconfig, cloudConfig, directory) => {
  const signals = new EventEmitter();
  const log: string[] = [];
  const ended = manager.main(
    [
      '--cloud-provider=memory',
      `--cloud-config=${cloudConfig}`,
      `--kubeconfig=${kubeconfig}`,
      '--secure-port=0',
      '--leader-elect=false',
      '--cluster-cidr=10.64.0.0/16',
      '--node-deletion-grace-period=1s',
    ],
    {
      env: {},
      stdout: { write: () => true },
      stderr: { write: (text) => log.push(text) },
      signals,
      exit: () => assert.fail('must not exit by itself'),
      workingDirectory: directory,
      hostname: 'conformance',
    },
  );
  return Promise.resolve({
    [Symbol.asyncDispose]: async () => {
      signals.emit('SIGTERM');
      assert.equal(await ended, 0, log.slice(-50).join(''));
    },
  });
};

export interface JudgesOptions {
  readonly client: Client;
  readonly kubeconfig: string;
  /** For what a broken manager goes through. */
  readonly apiServer: ApiServer;
  /** For files. */
  readonly directory: string;
}

interface Judged extends Partial<RunClusterOptions> {
  readonly broken?: BrokenManager;
  /** Default: ours. */
  readonly start?: StartManager;
}

const FEATURES = ['nodes', 'node-lifecycle', 'services', 'routes'];

export class ConformanceJudges {
  readonly #options: JudgesOptions;
  #runs = 0;

  constructor(options: JudgesOptions) {
    this.#options = options;
  }

  /** Runs the suite with every hook; what the manager leaves is taken away afterwards. */
  async judge({ broken, start = startOurs, ...options }: Judged): Promise<ClusterRun> {
    const { client, directory } = this.#options;
    this.#runs++;
    const run = `run${this.#runs}`;
    await using running = new AsyncDisposableStack();
    const cloud = createMemoryCloud({ clock: systemClock, random: () => 0.5 });
    cloud.createInstance({ name: 'gone' });
    cloud.deleteInstance('gone');
    const { endpoint } = running.use(await serveMemoryCloud(cloud));
    const cloudConfig = path.join(directory, `${run}.json`);
    await writeFile(cloudConfig, JSON.stringify({ endpoint }));
    running.use(await start(await this.#kubeconfig(running, broken), cloudConfig, directory));
    const ending = new AbortController();
    const whole = memoryClusterFixture(cloud);
    const meddling = broken?.meddles && this.#meddle(broken, `outrigger-conformance-${run}`, ending.signal);
    try {
      return await runClusterTests({
        client,
        clock: systemClock,
        fixture: { ...whole, ...broken?.fixture?.(whole, cloud) },
        subject: { name: broken?.name ?? 'outrigger' },
        features: FEATURES,
        disruptive: true,
        node: '',
        timeoutMs: 120_000,
        quietMs: 2_000,
        concurrency: 8,
        only: [],
        run,
        signal: new AbortController().signal,
        ...options,
      });
    } finally {
      ending.abort();
      await meddling;
      await this.#release(`outrigger-conformance-${run}`);
    }
  }

  async #kubeconfig(running: AsyncDisposableStack, broken: BrokenManager | undefined): Promise<string> {
    const { apiServer, directory, kubeconfig } = this.#options;
    if (!broken?.spoilt) return kubeconfig;
    const { url } = running.use(await SpoilingApi.start(apiServer, broken.spoilt));
    const file = path.join(directory, `spoilt-${this.#runs}.json`);
    const config = {
      apiVersion: 'v1',
      kind: 'Config',
      'current-context': 'spoilt',
      clusters: [{ name: 'spoilt', cluster: { server: url } }],
      users: [{ name: 'nobody', user: {} }],
      contexts: [{ name: 'spoilt', context: { cluster: 'spoilt', user: 'nobody' } }],
    };
    await writeFile(file, JSON.stringify(config));
    return file;
  }

  async #meddle({ meddles }: BrokenManager, namespace: string, signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      await meddles?.(this.#options.client, namespace).catch(() => {});
      await systemClock.sleep(20, signal).catch(() => {});
    }
  }

  /** What a broken manager would keep for ever. */
  async #release(namespace: string): Promise<void> {
    const services = this.#options.client.of(resources.services);
    for (const { metadata } of (await services.list({ namespace })).items) {
      const ref = { namespace, name: metadata?.name ?? '' };
      await services.patch(ref, { type: 'merge', body: { metadata: { finalizers: null } } });
      await services.delete(ref).catch(() => {});
    }
  }
}
