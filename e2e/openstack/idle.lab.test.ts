/** What the program asks of a real cloud when nothing happens: nodes and Services that are served, and minutes in which none changes. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createTransport, systemClock } from '@outrigger/kube';
import { freePort } from '@outrigger/testing';
import { differenceOf, listProject } from './lab-listing.ts';
import { LabServices } from './lab-services.ts';
import { OpenStackCluster } from './openstack-cluster.ts';
import { serviceOf } from './service-cases.ts';

/** Longer: `IDLE_MINUTES=10 make e2e-openstack TESTS=idle`. */
const MINUTES = Number(process.env['IDLE_MINUTES'] ?? 3);
const SERVICES = 4;
const NODES = ['lab-idle-1', 'lab-idle-2'];
const METRIC = 'cloudprovider_api_requests_total';
/** More would be polling. Tokens, which last five minutes here, are counted too. */
const MOST_A_MINUTE = 3;

test(`${MINUTES} minutes in which nothing happens`, async (t) => {
  const port = await freePort();
  const cluster = await OpenStackCluster.start(t, {
    flags: [`--secure-port=${port}`, '--bind-address=127.0.0.1'],
  });
  if (!cluster) return;
  const { lab } = cluster;
  const services = new LabServices(cluster);
  await using metrics = createTransport({ server: `https://127.0.0.1:${port}`, tls: { insecureSkipVerify: true } });
  const counts = async (): Promise<ReadonlyMap<string, number>> => {
    const { body } = await metrics.send({ method: 'GET', path: '/metrics' });
    return countsIn(Buffer.concat(await Array.fromAsync(body)).toString());
  };

  await cluster.join(...NODES);
  const names = Array.from({ length: SERVICES }, (_, index) => `idle-${index}`);
  for (const name of names) await services.create(serviceOf({ name, listeners: [] }, ''));
  for (const name of names) {
    await services.untilServed(name);
    await services.untilActive(name);
  }
  await cluster.until('the last call is a while ago', () => isQuiet(counts));

  const held = await listProject(lab.user);
  const before = await counts();
  await systemClock.sleep(MINUTES * 60_000);
  const asked = [...(await counts())]
    .map(([operation, count]) => [operation, count - (before.get(operation) ?? 0)] as const)
    .filter(([, count]) => count > 0)
    .toSorted(([one], [other]) => (one < other ? -1 : 1));
  const total = asked.reduce((sum, [, count]) => sum + count, 0);
  const lines = asked.map(([operation, count]) => `${count} × ${operation}`);
  t.diagnostic(`${total} calls in ${MINUTES} minutes: ${lines.join(', ')}`);
  assert.deepEqual(
    asked.map(([operation]) => operation).filter((operation) => !/^GET |auth\/tokens/u.test(operation)),
    [],
  );
  assert.ok(total <= MINUTES * MOST_A_MINUTE, lines.join('\n'));
  assert.deepEqual(differenceOf(held, await listProject(lab.user)), []);
  await services.delete(...names);
});

/** Ten seconds without a call. */
async function isQuiet(counts: () => Promise<ReadonlyMap<string, number>>): Promise<boolean> {
  const sum = async (): Promise<number> => [...(await counts()).values()].reduce((one, other) => one + other, 0);
  const before = await sum();
  await systemClock.sleep(10_000);
  return (await sum()) === before;
}

/** By operation, whatever was answered. */
function countsIn(page: string): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const [, labels = '', value] of page.matchAll(new RegExp(`^${METRIC}\\{(.*)\\} (\\S+)$`, 'gmu'))) {
    const operation = /operation="([^"]*)"/u.exec(labels)?.[1] ?? '';
    counts.set(operation, (counts.get(operation) ?? 0) + Number(value));
  }
  return counts;
}
