/** What every measurement stands on: a real control plane, a cloud over HTTP, a client of the bench's own. Entry point: `openRig`. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock, type Client, type Transport } from '@outrigger/kube';
import { createMemoryCloud, serveMemoryCloud, type MemoryCloud } from '@outrigger/provider-memory';
import { freePort, startControlPlane, type ControlPlane, type ControlPlaneOptions } from '@outrigger/testing';
import { connect } from './connect.ts';
import { removeLease } from './fleet.ts';
import { runSubject, type RunningSubject } from './run-subject.ts';
import type { Subject, Surroundings } from './subjects.ts';

/** What one call to the simulated cloud takes, in milliseconds. */
const CLOUD_LATENCY_MS = 20;
/** After which a load balancer that is new or was changed serves. */
const LOAD_BALANCER_DELAY_MS = 1_000;

export interface Rig extends AsyncDisposable {
  readonly controlPlane: ControlPlane;
  readonly client: Client;
  /** What the client sends with. */
  readonly transport: Transport;
  readonly cloud: MemoryCloud;
  surroundings(): Promise<Surroundings>;
  /** The flag for a cloud config that says more than where the cloud is. */
  cloudConfig(more: Readonly<Record<string, unknown>>): string;
  /** Runs a subject with `flags` over its own, from its start on; ends it when `body` has. `limitSeconds`: then `signal` aborts. */
  run<T>(
    subject: Subject,
    flags: readonly string[],
    limitSeconds: number,
    body: (running: RunningSubject) => Promise<T>,
  ): Promise<T>;
  /** The same beside a subject that runs: it waits for that one's Lease. */
  runBeside<T>(
    subject: Subject,
    flags: readonly string[],
    limitSeconds: number,
    body: (running: RunningSubject) => Promise<T>,
  ): Promise<T>;
}

export async function openRig(options: ControlPlaneOptions = {}): Promise<Rig> {
  await using opening = new AsyncDisposableStack();
  const directory = mkdtempSync(join(tmpdir(), 'outrigger-bench-'));
  opening.defer(() => rmSync(directory, { recursive: true, force: true }));
  const settings = { latencyMs: CLOUD_LATENCY_MS, loadBalancerDelayMs: LOAD_BALANCER_DELAY_MS };
  const cloud = createMemoryCloud({ clock: systemClock, random: Math.random, settings });
  const served = opening.use(await serveMemoryCloud(cloud));
  const controlPlane = opening.use(await startControlPlane(options));
  const { client, transport } = opening.use(await connect(controlPlane.kubeconfig.path));
  const certificateAuthorityFile = join(directory, 'ca.crt');
  const cloudConfig = join(directory, 'cloud.json');
  writeFileSync(certificateAuthorityFile, controlPlane.certificateAuthority);
  writeFileSync(cloudConfig, JSON.stringify({ endpoint: served.endpoint }));
  // As in a cluster, where it is that of a service account. A client certificate would be verified anew for each request.
  const { path: kubeconfig } = await controlPlane.kubeconfigFor({ user: 'admin', credential: 'token' });
  let configs = 0;
  const surroundings = async (): Promise<Surroundings> => ({
    controlPlane,
    certificateAuthorityFile,
    cloudConfig,
    kubeconfig,
    port: await freePort(),
  });
  const runBeside: Rig['runBeside'] = async (subject, flags, limitSeconds, body) => {
    const flagged: Subject = {
      ...subject,
      command: (given) => {
        const [program, ...args] = subject.command(given);
        return [program, ...args, ...flags];
      },
    };
    return runSubject(flagged, await surroundings(), limitSeconds, body);
  };
  const owned = opening.move();
  return {
    controlPlane,
    client,
    transport,
    cloud,
    surroundings,
    cloudConfig: (more) => {
      const file = join(directory, `cloud-${configs++}.json`);
      writeFileSync(file, JSON.stringify({ endpoint: served.endpoint, ...more }));
      return `--cloud-config=${file}`;
    },
    run: async (subject, flags, limitSeconds, body) => {
      await removeLease(client);
      return runBeside(subject, flags, limitSeconds, body);
    },
    runBeside,
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}
