/**
 * What must never happen, whatever goes wrong in between: something of ours is left, something of another's is touched, or it
 * does not come to an end. The program dies between any two requests, answers are lost, Octavia says 409 and 5xx, children stay
 * behind, and Services change and go meanwhile.
 */
import { strict as assert } from 'node:assert';
import { test } from 'node:test';
import * as fc from 'fast-check';
import type { LoadBalancerPlan, LoadBalancerService } from '@outrigger/cloud-provider';
import type { FaultRule } from '../../fake/fault-rules.ts';
import { annotated, portOf } from './desired/tree-inputs.suite.ts';
import { callContext, goneService, Rig, served, serviceNamed } from './rig.suite.ts';

const WRITES =
  /^(POST|PUT|DELETE) \/(loadbalancers|listeners|pools|healthmonitors|floatingips|security-groups|security-group-rules|ports)/;

const fault: fc.Arbitrary<FaultRule> = fc
  .record({
    kind: fc.constantFrom('lost', 'refused', 'status', 'lost'),
    status: fc.constantFrom(409, 412, 429, 500, 503),
    service: fc.constantFrom('network', 'load-balancer'),
    nth: fc.integer({ min: 1, max: 8 }),
    write: fc.boolean(),
  })
  .map(({ kind, nth, service, status, write }): FaultRule => {
    const rule = {
      service,
      nth,
      when: ({ method }: { readonly method: string }) => (method === 'GET') !== write,
    } as const;
    return kind === 'status' ? { effect: 'status', status, ...rule } : { effect: kind, ...rule };
  });

const shape = fc.record({
  ports: fc.subarray([80, 443, 8080], { minLength: 1 }),
  internal: fc.boolean(),
  monitor: fc.boolean(),
  nodes: fc.integer({ min: 1, max: 3 }),
});

const step = fc.record({
  which: fc.constantFrom('a', 'b'),
  wanted: fc.constantFrom(true, true, false),
  byForce: fc.boolean(),
  shape,
  faults: fc.array(fault, { minLength: 1, maxLength: 4 }),
  passes: fc.integer({ min: 2, max: 8 }),
  dies: fc.boolean(),
});

const world = fc.record({
  steps: fc.array(step, { minLength: 1, maxLength: 6 }),
  serial: fc.boolean(),
  groups: fc.boolean(),
  late: fc.constantFrom(0, 0, 15_000, Number.POSITIVE_INFINITY),
  updateMs: fc.constantFrom(0, 700, 4_000, 12_000, 30_000),
  cascade: fc.boolean(),
  shares: fc.boolean(),
});

test('property: nothing is left, nothing of another’s is touched, and it ends', { timeout: 600_000 }, async () => {
  let lost = 0;
  await fc.assert(
    fc.asyncProperty(world, async ({ cascade, groups, late, serial, shares, steps, updateMs }) => {
      let rig = await Rig.open({
        loadBalancer: {
          providerRequiresSerialApiCalls: serial,
          manageSecurityGroups: groups,
          cascadeDelete: cascade,
          maxSharedLb: 2,
        },
      });
      Object.assign(rig.cloud.octavia.settings, {
        childrenLateMs: late,
        updateMs,
        createMs: updateMs * 2,
        deleteMs: updateMs,
      });
      const others = await foreign(rig);
      const spare = [...rig.backEnds, rig.addNode('node-3')];
      const services = new Map<string, LoadBalancerService>();
      const wanted = new Map<string, boolean>();
      const idOf = (name: string): string =>
        services.get(name)?.annotations['loadbalancer.openstack.org/load-balancer-id'] ?? '';
      const serviceOf = (
        name: string,
        given: { readonly ports: readonly number[]; readonly internal: boolean; readonly monitor: boolean },
      ): LoadBalancerService => {
        const before = services.get(name);
        const shared = name === 'b' && shares && idOf('b') === '' ? idOf('a') : idOf(name);
        // Ports of the two never clash; both are reached in the same way.
        const ports = given.ports.map((port) => portOf(name === 'a' ? port : port + 1));
        const internal = given.internal && !shares;
        return {
          ...serviceNamed(name, { ports }),
          ingress: before?.ingress ?? [],
          annotations: {
            ...before?.annotations,
            ...annotated({ internal: String(internal), enableHealthMonitor: String(given.monitor) }),
            ...(shared && annotated({ loadBalancerId: shared })),
          },
        };
      };
      const note = (name: string, service: LoadBalancerService, plan: LoadBalancerPlan): void => {
        services.set(name, plan.complete && plan.ingress.length > 0 ? served(service, plan) : service);
      };
      for (const { byForce, dies, faults, passes, shape: given, wanted: isWanted, which } of steps) {
        // One that is going stays so, as a finalizer keeps it.
        if (wanted.get(which) === false) continue;
        wanted.set(which, isWanted);
        rig.backEnds = spare.slice(0, given.nodes);
        const service = serviceOf(which, given);
        services.set(which, service);
        rig.cloud.faults.set(...faults);
        for (let pass = 0; pass < passes; pass++) {
          try {
            const asked = !isWanted && byForce ? goneService(service) : service;
            note(which, service, await rig.pass(rig.desired(asked, isWanted)));
          } catch (error) {
            if (error instanceof assert.AssertionError) throw error;
            lost++;
            if (dies) rig = await rig.restarted();
          }
          await rig.clock.sleep(1_000);
        }
      }
      rig.cloud.faults.set();
      // What is asked for in the end comes about; who shares a load balancer waits for the one who makes it.
      for (const [name, service] of services) {
        if (!wanted.get(name)) continue;
        const plan = await rig.bring(service);
        assert.ok(plan.refused ? shares : plan.ingress.length > 0, plan.refused?.message);
      }
      const backwards = [...services].toReversed();
      for (const [, service] of shares ? services : backwards) await rig.bring(service, false);
      assert.deepEqual(await rig.provider.listOwned(callContext()), []);
      assert.deepEqual(await kept(rig), others, 'all is as it was before');
    }),
    { numRuns: Number(process.env['PROPERTY_RUNS'] ?? 40) },
  );
  assert.ok(lost >= 10, `the faults reach the program: ${lost}`);
});

test('the writes that the faults are to hit are those that are made', async () => {
  const rig = await Rig.open({ loadBalancer: { manageSecurityGroups: true } });
  await rig.bring(serviceNamed('a'));
  const writes = rig.cloud.calls
    .all()
    .filter(({ operation, service }) => !operation.startsWith('GET') && service !== 'identity');
  assert.ok(
    writes.length > 5 && writes.every(({ operation }) => WRITES.test(operation)),
    writes.map(({ operation }) => operation).join(),
  );
});

/** A load balancer, an address and a group of other people, and a load balancer of another cluster. */
async function foreign(rig: Rig): Promise<Readonly<Record<string, unknown>>> {
  const neighbour = await rig.restarted({ clusterId: 'cluster-2' });
  await neighbour.bring(serviceNamed('a'));
  const body = { loadbalancer: { name: 'by-hand', vip_subnet_id: rig.seeded.subnet.id } };
  const path = '/v2.0/lbaas/loadbalancers';
  await rig.client.request(callContext(), { service: 'load-balancer', operation: 'x', method: 'POST', path, body });
  const floatingip = { floating_network_id: rig.seeded.publicNetwork.id, description: 'mine' };
  const post = { service: 'network', operation: 'x', method: 'POST' } as const;
  await rig.client.request(callContext(), { ...post, path: '/v2.0/floatingips', body: { floatingip } });
  const group = { security_group: { name: 'lb-sg-of-somebody' } };
  await rig.client.request(callContext(), { ...post, path: '/v2.0/security-groups', body: group });
  // Until all of it is ACTIVE.
  await rig.clock.sleep(60_000);
  return kept(rig);
}

/** Without what changes by itself, and without the nodes' ports that have no group but the project's own. */
async function kept(rig: Rig): Promise<Readonly<Record<string, unknown>>> {
  const entries = Object.entries(await rig.everything()).map(([key, one]) => {
    const { operating_status: _, updated_at: __, revision_number: ___, ...rest } = one as Record<string, unknown>;
    return [key, rest] as const;
  });
  const isPlainNode = ({ device_owner: owner, security_groups: groups }: Readonly<Record<string, unknown>>): boolean =>
    String(owner).startsWith('compute') && Array.isArray(groups) && groups.length === 1;
  return Object.fromEntries(entries.filter(([, one]) => !isPlainNode(one)));
}
