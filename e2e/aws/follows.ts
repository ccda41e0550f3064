/** What the manager that leads has to follow: a machine that comes and goes, and another port of Services. */
import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { resources } from '@outrigger/kube';
import type { AccountState } from '../../providers/aws/lab/account-state.ts';
import { NODES, type Contender, type Migration, type MigrationOptions } from './migration.ts';
import { harmful, trafficIn } from './traffic.ts';

/** Of each load balancer, how many machines are behind it; and of each target group. */
function behind({ classicLoadBalancers, targetGroups }: AccountState): readonly number[] {
  return [...classicLoadBalancers.map(({ instances }) => instances), ...targetGroups.map(({ targets }) => targets)].map(
    ({ length }) => length,
  );
}

/** A new machine gets its route, and its place behind all load balancers; when it ends, all is as it was before. */
export async function followsNode(
  t: TestContext,
  migration: Migration,
  { user }: Contender,
  register: NonNullable<MigrationOptions['register']>,
): Promise<void> {
  const look = async (): Promise<string> => JSON.stringify(trafficIn(await migration.state()));
  const before = await look();
  const identities = await migration.identities();
  const first = await migration.state();
  const all = behind(first).map(() => NODES + 1);
  assert.ok(all.length > 0);
  const [machine] = await migration.cloud.addInstances(1);
  assert.ok(machine);
  await migration.join(machine, register);
  await migration.until(`${user}: ${machine.name} is behind all load balancers`, async () => {
    const state = await migration.state();
    return state.routes.length > first.routes.length && behind(state).join() === all.join();
  });
  const calls = await migration.settled(t, `${user}: a node comes`);
  assert.deepEqual(
    harmful(calls).filter((name) => name !== 'ec2:CreateRoute'),
    [],
  );
  await migration.leave(machine);
  await migration.until(`${user}: ${machine.name} is behind no load balancer`, async () => (await look()) === before);
  const last = await migration.settled(t, `${user}: a node goes`);
  assert.deepEqual(
    harmful(last).filter((name) => !/:(?:DeleteRoute$|Deregister)/u.test(name)),
    [],
  );
  assert.deepEqual(await migration.identities(), identities);
}

/** Each of the Services gets one more port, beside those that stay as they are. */
export async function followsPort(
  t: TestContext,
  migration: Migration,
  { user }: Contender,
  port: number,
  names: readonly string[],
): Promise<void> {
  const before = await migration.identities();
  for (const [i, name] of names.entries()) {
    const service = await migration.client.of(resources.services).get({ name, namespace: 'default' });
    const added = {
      name: `more-${port}`,
      port,
      targetPort: 8080,
      nodePort: 22_000 + port + i * 1_000,
      protocol: 'TCP',
    };
    const ports = [...(service.spec?.ports ?? []), added];
    const body = { spec: { ports } };
    await migration.client.of(resources.services).patch({ name, namespace: 'default' }, { type: 'merge', body });
  }
  await migration.until(`${user}: port ${port} of ${names.join()}`, async () => {
    const { classicLoadBalancers, networkLoadBalancers } = await migration.state();
    const ports = [
      ...networkLoadBalancers.flatMap(({ listeners }) => listeners.map((one) => one.port)),
      ...classicLoadBalancers.flatMap(({ listeners }) => listeners.map((one) => one.LoadBalancerPort)),
    ];
    return ports.filter((one) => one === port).length === names.length;
  });
  const calls = await migration.settled(t, `${user}: port ${port}`);
  assert.deepEqual(
    harmful(calls).filter((name) => !name.includes(':Create')),
    [],
  );
  const after = new Set(await migration.identities());
  assert.deepEqual(
    before.filter((arn) => !after.has(arn)),
    [],
  );
}
