/** From another manager to Outrigger and back, twice: by a manager that ends, and by one that is killed. */
import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { NODES, type Contender, type Migration } from './migration.ts';
import { harmful, leftIn, trafficIn, type LeftBehind } from './traffic.ts';

const NLB = { 'service.beta.kubernetes.io/aws-load-balancer-type': 'nlb' };

/** `change`: something that whoever leads has to follow, after each hand-over; default: two more Services alone. Gives back what is left of Outrigger's when all Services are gone. */
export async function thereAndBack(
  t: TestContext,
  migration: Migration,
  [other, outrigger]: readonly [Contender, Contender],
  change: (by: Contender) => Promise<void> = async () => {},
): Promise<Omit<LeftBehind, 'rest'>> {
  const now = async (): Promise<unknown> => [
    trafficIn(await migration.state()),
    await migration.identities(),
    await migration.addresses(),
    await migration.nodes(),
  ];
  const services: string[] = [];
  const serve = async (): Promise<void> => {
    const at = services.length;
    await migration.serve(`network-${at}`, NLB, 30_080 + at);
    await migration.serve(`classic-${at}`, {}, 30_081 + at);
    services.push(`network-${at}`, `classic-${at}`);
    const calls = harmful(await migration.settled(t, `Services ${at}`));
    // That these are seen shows that others would be, too.
    assert.deepEqual(
      ['elb:CreateLoadBalancer', 'elbv2:CreateLoadBalancer'].filter((name) => !calls.includes(name)),
      [],
    );
    assert.deepEqual(
      calls.filter((name) => !name.includes(':Create')),
      [],
    );
  };

  await migration.begins(other);
  await migration.until(
    'nodes have their routes',
    async () => JSON.stringify(await migration.state()).split('10.244.').length > NODES,
  );
  await migration.settled(t, `${other.user}, nodes`);
  const empty = leftIn(await migration.state());
  await serve();
  for (const signal of ['SIGTERM', 'SIGKILL'] as const) {
    for (const turn of [[other, outrigger] as const, [outrigger, other] as const]) {
      const before = await now();
      assert.deepEqual(harmful(await migration.handOver(t, turn, signal)), []);
      assert.deepEqual(await now(), before);
      await serve();
      await change(turn[1]);
    }
  }
  await migration.remove(...services);
  await migration.settled(t, `${other.user}, removal`);
  await migration.checkLeadership(t);
  const { rest, ...left } = leftIn(await migration.state());
  assert.deepEqual(rest, empty.rest);
  return left;
}
