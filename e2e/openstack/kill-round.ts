/**
 * One Service on the lab from its creation to its end, with kill -9 of the program amid each. Entry point: `runKillRound`. The same
 * seed kills after the same times; what Octavia has come to by then is another matter.
 */
import assert from 'node:assert/strict';
import { mkdir } from 'node:fs/promises';
import { resources, systemClock } from '@outrigger/kube';
import type { ControlPlane } from '@outrigger/testing';
import { seededRandom } from '../seeded-random.ts';
import { differenceOf, listProject } from './lab-listing.ts';
import { LabServices } from './lab-services.ts';
import { OpenStackCluster } from './openstack-cluster.ts';
import { serviceOf } from './service-cases.ts';

/** In which the program is killed: longer than a load balancer takes. */
const WITHIN_MS = 8_000;

/**
 * Resolves when its deletion has begun, with what Octavia said of the load balancer at each kill: `none`, or its provisioning status.
 * Rejects when there is not one load balancer with one address. A Service may stay for another two minutes: a program that finds
 * nothing of it does not believe that at once.
 */
export async function killAmid(
  cluster: OpenStackCluster,
  name: string,
  random: () => number,
): Promise<readonly string[]> {
  const { manager } = cluster;
  const services = new LabServices(cluster);
  const killed = async (): Promise<string> => {
    await systemClock.sleep(random() * WITHIN_MS);
    await manager.end('SIGKILL');
    const statuses = await services.statuses(name);
    manager.start();
    return statuses.join() || 'none';
  };
  await services.create(serviceOf({ name, listeners: [] }, ''));
  const amidCreation = await killed();
  const served = await services.untilServed(name);
  const tree = await services.untilActive(name);
  assert.deepEqual(served, [tree.floatingIP]);
  await services.beginDelete(name);
  return [amidCreation, await killed()];
}

/** For `make chaos`: on a control plane that is there, with a server and its node. The lab must be up. */
export async function runKillRound(options: {
  readonly controlPlane: ControlPlane;
  readonly seed: number;
  readonly directory: string;
}): Promise<string> {
  const { controlPlane, directory, seed } = options;
  const began = systemClock.monotonic();
  await mkdir(directory, { recursive: true });
  await using cluster = await OpenStackCluster.open(controlPlane, {}, directory);
  const before = await listProject(cluster.lab.user);
  const node = `lab-killed-${seed}`;
  await cluster.join(node);
  await cluster.until(
    'the node is initialised',
    async () => (await cluster.node(node))?.spec?.providerID !== undefined,
  );
  const service = `killed-${seed}`;
  const killedAt = await killAmid(cluster, service, seededRandom(seed));
  await new LabServices(cluster).untilGone(service);
  await cluster.machines[Symbol.asyncDispose]();
  assert.deepEqual(differenceOf(before, await listProject(cluster.lab.user)), []);
  const code = await cluster.manager.end('SIGTERM');
  assert.equal(code, 0, `the program ended with ${code ?? 'a signal'} after SIGTERM`);
  await cluster.client.of(resources.nodes).deleteCollection();
  const seconds = ((systemClock.monotonic() - began) / 1_000).toFixed(0);
  return `seed ${seed}: passed: killed with the load balancer ${killedAt.join(' and ')}; nothing is left after ${seconds} s`;
}
