import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import type { Clock } from '@outrigger/cloud-provider';
import { createFakeOpenStack, type FakeOpenStack } from '../fake-openstack.ts';
import { seedProject } from '../seed-project.ts';
import { seededRandom } from '../seeded-random.ts';
import { signIn, type SignedIn } from '../sign-in.ts';

/** Stands still but for `pass`. */
class StillClock implements Clock {
  #now = 0;

  now(): number {
    return this.#now;
  }

  monotonic(): number {
    return this.#now;
  }

  async sleep(): Promise<void> {
    throw new Error('nobody waits here');
  }

  pass(ms: number): void {
    this.#now += ms;
  }
}

const STEPS = [
  'listener',
  'pool',
  'members',
  'additive',
  'monitor',
  'rename',
  'drop listener',
  'drop pool',
  'wait',
] as const;

type Step = (typeof STEPS)[number];

const ROOT = '/load-balancer/v2.0/lbaas';

interface Ids {
  readonly loadBalancer: string;
  readonly listener: string;
  readonly pool: string;
}

/** On whatever there is at the moment; what is not there is asked for in vain. */
async function ask({ post, put, remove }: SignedIn, step: Step, ids: Ids, pick: number): Promise<number> {
  const member = { address: `10.0.0.${(pick % 5) + 10}`, protocol_port: 30_080 };
  switch (step) {
    case 'listener': {
      const listener = { loadbalancer_id: ids.loadBalancer, protocol: 'TCP', protocol_port: (pick % 3) + 1 };
      return (await post(`${ROOT}/listeners`, { listener })).status;
    }
    case 'pool': {
      const pool = { listener_id: ids.listener, protocol: 'TCP', lb_algorithm: 'ROUND_ROBIN', members: [member] };
      return (await post(`${ROOT}/pools`, { pool })).status;
    }
    case 'members':
      return (await put(`${ROOT}/pools/${ids.pool}/members`, { members: [member] })).status;
    case 'additive':
      return (await put(`${ROOT}/pools/${ids.pool}/members?additive_only=true`, { members: [member] })).status;
    case 'monitor': {
      const healthmonitor = { pool_id: ids.pool, type: 'TCP', delay: 5, timeout: 3, max_retries: 1 };
      return (await post(`${ROOT}/healthmonitors`, { healthmonitor })).status;
    }
    case 'rename':
      return (await put(`${ROOT}/loadbalancers/${ids.loadBalancer}`, { loadbalancer: { name: `${pick}` } })).status;
    case 'drop listener':
      return (await remove(`${ROOT}/listeners/${ids.listener}`)).status;
    case 'drop pool':
      return (await remove(`${ROOT}/pools/${ids.pool}`)).status;
    case 'wait':
      return 0;
    default:
      return step satisfies never;
  }
}

function idsOf({ octavia }: FakeOpenStack, pick: number): Ids {
  const oneOf = (all: ReadonlyMap<string, unknown>): string => [...all.keys()][pick % Math.max(1, all.size)] ?? 'none';
  const { loadBalancers, listeners, pools } = octavia.store;
  return { loadBalancer: oneOf(loadBalancers), listener: oneOf(listeners), pool: oneOf(pools) };
}

/** All that is kept, as text: two of them are equal where nothing has changed. */
const snapshot = ({ octavia }: FakeOpenStack): string => {
  const { loadBalancers, listeners, pools, members, monitors } = octavia.store;
  return JSON.stringify([loadBalancers, listeners, pools, members, monitors].map((all) => [...all.values()]));
};

test('whatever is asked: one change at a time, a refusal changes nothing, and nothing is without its parent', async () => {
  const steps = fc.array(fc.record({ step: fc.constantFrom(...STEPS), pick: fc.nat(20), ms: fc.nat(2000) }), {
    maxLength: 40,
  });
  await fc.assert(
    fc.asyncProperty(steps, async (sequence) => {
      const clock = new StillClock();
      const cloud = createFakeOpenStack({ clock, random: seededRandom(1) });
      const { subnet } = seedProject(cloud);
      Object.assign(cloud.octavia.settings, { createMs: 3000, updateMs: 1000, deleteMs: 1000 });
      const signedIn = await signIn(cloud);
      await signedIn.post(`${ROOT}/loadbalancers`, { loadbalancer: { vip_subnet_id: subnet.id } });
      for (const { step, pick, ms } of sequence) {
        if (step === 'wait') clock.pass(ms);
        const { store } = cloud.octavia;
        const [owner] = store.loadBalancers.values();
        const wasPending = owner?.provisioning_status.startsWith('PENDING') === true;
        const before = snapshot(cloud);
        const status = await ask(signedIn, step, idsOf(cloud, pick), pick);
        if (wasPending) assert.ok(status === 0 || status >= 400, `${step} was answered ${status} while pending`);
        if (status >= 400 || status === 0) assert.equal(snapshot(cloud), before, `${step}, refused with ${status}`);
      }
      clock.pass(10_000);
      const { loadBalancers, listeners, pools, members, monitors } = cloud.octavia.store;
      for (const each of [loadBalancers, listeners, pools, members, monitors].flatMap((all) => [...all.values()])) {
        assert.equal(each.provisioning_status, 'ACTIVE');
      }
      for (const { default_pool_id: id } of listeners.values()) assert.ok(id === null || pools.has(id));
      for (const { poolId } of [...members.values(), ...monitors.values()]) assert.ok(pools.has(poolId));
      const [last] = loadBalancers.values();
      await signedIn.remove(`${ROOT}/loadbalancers/${last?.id}?cascade=true`);
      clock.pass(10_000);
      assert.equal(snapshot(cloud), '[[],[],[],[],[]]');
    }),
    { numRuns: 60 },
  );
});
