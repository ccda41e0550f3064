/** What the provider adds to the manager's memory: beside the smallest provider there is, with as many nodes, in turn. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { systemClock } from '@outrigger/kube';
import { createMemoryCloud, serveMemoryCloud } from '@outrigger/provider-memory';
import { freePort } from '@outrigger/testing';
import { addressOf, nodeNames, registerNodes } from '../fleet.ts';
import { makeReady } from '../cluster-nodes.ts';
import { readProcessUsage, type ProcessUsage } from '../process-usage.ts';
import { median } from '../report.ts';
import { runSubject } from '../run-subject.ts';
import { secondsUntil, sleep } from '../scenario.ts';
import { outrigger as memoryOutrigger, type Subject, type Surroundings } from '../subjects.ts';
import type { Record } from './aws-parts.ts';
import type { AwsRig } from './aws-rig.ts';

const NODES = 1_000;
const LIMIT_SECONDS = 240;
const QUIET_MS = 20_000;

export const ADDED: string = `the provider adds to the RSS with ${NODES} nodes`;

/** Medians of so many rounds. */
export async function rssBesideMemory(rig: AwsRig, aws: Subject, rounds: number, record: Record): Promise<void> {
  const usage: { readonly memory: ProcessUsage[]; readonly aws: ProcessUsage[] } = { memory: [], aws: [] };
  for (let round = 0; round < rounds; round++) {
    usage.memory.push(await withMemory(rig));
    await using account = await rig.account(NODES);
    usage.aws.push(await used(rig, aws, await account.surroundings()));
  }
  for (const [figure, what] of [
    ['rssMiB', 'when idle'],
    ['peakRssMiB', 'at most'],
  ] as const) {
    const [own, other] = [usage.aws, usage.memory].map((all) => median(all.map((one) => one[figure])));
    record({ what: `RSS ${what}, ${NODES} nodes, aws`, value: own ?? Number.NaN, unit: ' MiB' });
    record({ what: `RSS ${what}, ${NODES} nodes, memory`, value: other ?? Number.NaN, unit: ' MiB' });
    record({ what: `${ADDED} ${what}`, value: (own ?? Number.NaN) - (other ?? Number.NaN), unit: ' MiB' });
  }
}

async function withMemory(rig: AwsRig): Promise<ProcessUsage> {
  await rig.empty();
  const cloud = createMemoryCloud({ clock: systemClock, random: Math.random });
  await using served = await serveMemoryCloud(cloud);
  const names = nodeNames(NODES);
  for (const [index, name] of names.entries())
    cloud.createInstance({ name, addresses: [{ type: 'InternalIP', address: addressOf(index) }] });
  await registerNodes(rig.client, names);
  await makeReady({ client: rig.client }, names);
  const { controlPlane } = rig;
  const cloudConfig = join(controlPlane.directory, 'memory.json');
  writeFileSync(cloudConfig, JSON.stringify({ endpoint: served.endpoint }));
  const kubeconfig = controlPlane.kubeconfig.path;
  const given = { controlPlane, certificateAuthorityFile: '', cloudConfig, kubeconfig, port: await freePort() };
  const flags = ['--leader-elect=false', '--configure-cloud-routes=false'];
  const subject: Subject = {
    ...memoryOutrigger,
    command: (surroundings) => {
      const [program, ...others] = memoryOutrigger.command(surroundings);
      return [program, ...others, ...flags];
    },
  };
  // Awaited here: the cloud serves until then.
  return await used(rig, subject, given);
}

async function used(rig: AwsRig, subject: Subject, given: Surroundings): Promise<ProcessUsage> {
  return runSubject(subject, given, LIMIT_SECONDS, async ({ pid, signal }) => {
    await secondsUntil(async () => (await rig.initialised()) === NODES, signal, 500);
    await sleep(QUIET_MS);
    return readProcessUsage(pid);
  });
}
