/** What a plan says is what is sent: by a provider that has seen nothing, has another config, and knows nothing but the action. */
import { strict as assert } from 'node:assert';
import { test } from 'node:test';
import * as fc from 'fast-check';
import type { LoadBalancerAction, LoadBalancerPlan, LoadBalancerService } from '@outrigger/cloud-provider';
import type { FakeCall } from '../../fake/call-log.ts';
import { annotated, portOf } from './desired/tree-inputs.suite.ts';
import { changeOf, type PlannedRequest } from './plan/change.ts';
import { callContext, goneService, Rig, served, serviceNamed } from './rig.suite.ts';

const shape = fc.record({
  ports: fc.subarray([80, 443, 8080], { minLength: 1 }),
  protocol: fc.constantFrom('TCP', 'UDP'),
  internal: fc.boolean(),
  monitor: fc.boolean(),
  families: fc.constantFrom('one', 'two'),
  subnet: fc.constantFrom('', 'pool-*'),
  keep: fc.boolean(),
  nodes: fc.integer({ min: 1, max: 3 }),
});

const world = fc.record({
  steps: fc.array(fc.record({ which: fc.constantFrom('a', 'b'), wanted: fc.constantFrom(true, true, false), shape }), {
    minLength: 1,
    maxLength: 6,
  }),
  serial: fc.boolean(),
  groups: fc.boolean(),
  cascade: fc.boolean(),
  shares: fc.boolean(),
  hasSecondVips: fc.boolean(),
  subnetIsFull: fc.boolean(),
});

/** By what is planned: how often it was seen to be sent, so that none of them is there in name alone. */
const seen = new Map<string, number>();

test('property: the requests of an action are those that it names, whoever carries it out', async () => {
  await fc.assert(
    fc.asyncProperty(world, async ({ cascade, groups, hasSecondVips, serial, shares, steps, subnetIsFull }) => {
      const rig = await Rig.open({
        loadBalancer: {
          providerRequiresSerialApiCalls: serial,
          manageSecurityGroups: groups,
          cascadeDelete: cascade,
          maxSharedLb: 2,
        },
      });
      const { networks } = rig.cloud.networking;
      const share = networks.networks.change(rig.seeded.publicNetwork.id, { shared: true });
      const pools = ['pool-1', 'pool-2'].map((name, i) =>
        networks.addSubnet(share, { name, cidr: `198.51.10${i}.0/24`, enable_dhcp: false }),
      );
      const refuse = (status: number, operation: string, text: string) =>
        ({
          effect: 'status',
          status,
          operation,
          when: ({ body }: { readonly body: unknown }) => JSON.stringify(body).includes(text),
        }) as const;
      rig.cloud.faults.set(
        ...(hasSecondVips ? [] : [refuse(501, 'POST /loadbalancers', 'additional_vips')]),
        ...(subnetIsFull ? [refuse(409, 'POST /floatingips', pools[0]?.id ?? '')] : []),
      );
      const spare = [...rig.backEnds, rig.addNode('node-3')];
      const services = new Map<string, LoadBalancerService>();
      const gone = new Set<string>();
      for (const { shape: given, wanted, which } of steps) {
        if (gone.has(which)) continue;
        if (!wanted) gone.add(which);
        rig.backEnds = spare.slice(0, given.nodes);
        const before = services.get(which);
        const idOf = (name: string): string =>
          services.get(name)?.annotations['loadbalancer.openstack.org/load-balancer-id'] ?? '';
        const named = which === 'b' && shares && idOf('b') === '' ? idOf('a') : idOf(which);
        const service: LoadBalancerService = {
          ...serviceNamed(which, {
            ports: given.ports.map((port) => portOf(which === 'a' ? port : port + 1, given.protocol)),
            ...(given.families === 'two' && { ipFamilies: ['IPv4', 'IPv6'], ipFamilyPolicy: 'PreferDualStack' }),
          }),
          ingress: before?.ingress ?? [],
          annotations: {
            ...before?.annotations,
            ...annotated({
              internal: String(given.internal && !shares),
              enableHealthMonitor: String(given.monitor),
              keepFloatingIP: String(given.keep),
              floatingNetworkId: share.id,
              floatingSubnet: given.subnet,
            }),
            ...(named && annotated({ loadBalancerId: named })),
          },
        };
        services.set(which, service);
        const plan = await bring(rig, service, wanted);
        if (plan?.complete && plan.ingress.length > 0) services.set(which, served(service, plan));
      }
    }),
    { numRuns: Number(process.env['PROPERTY_RUNS'] ?? 40) },
  );
  for (const one of ['request', 'otherwise', 'tags', 'ports']) assert.ok((seen.get(one) ?? 0) > 0, `none of ${one}`);
});

/** Passes in which each action is carried out by a provider of its own, from what a dry run could show of it. */
async function bring(rig: Rig, service: LoadBalancerService, wanted: boolean): Promise<LoadBalancerPlan | undefined> {
  for (let pass = 0; pass < 60; pass++) {
    const { others, parts } = await rig.lookAround(service);
    const plan = rig.provider.plan({ ...rig.desired(service, wanted), others }, parts);
    if (plan.complete || plan.refused) return plan;
    for (const action of plan.actions) {
      const stranger = await rig.restarted({ loadBalancer: { lbProvider: 'ovn', cascadeDelete: false } });
      const bare = stranger.desired(goneService(service), false);
      rig.cloud.calls.reset();
      const told = JSON.parse(JSON.stringify(action)) as LoadBalancerAction;
      const result = await stranger.provider.apply(told, bare, callContext());
      assert.notEqual(result.kind, 'failed');
      const calls = rig.cloud.calls.all();
      judge(
        action,
        calls.filter(({ operation, service: of }) => of !== 'identity' && !operation.startsWith('GET ')),
      );
    }
    await rig.clock.sleep(1_000);
  }
  return undefined;
}

/** Of what Octavia and Neutron are asked to change, what the action says; and what it leaves to be read first, which is listed here. */
function judge(action: LoadBalancerAction, writes: readonly FakeCall[]): void {
  const change = changeOf(action);
  const left = writes.filter((one) => !isReadFirst(action, one));
  const { otherwise = [], request } = change as {
    readonly request?: PlannedRequest;
    readonly otherwise?: PlannedRequest | readonly PlannedRequest[];
  };
  const planned = [...(request ? [request] : []), ...[otherwise].flat()];
  for (const [i, call] of left.entries()) {
    const next = planned[i];
    assert.ok(next, `${action.summary}: sends ${call.operation}, which is not planned`);
    assert.deepEqual(
      { service: call.service, method: call.operation.split(' ')[0], body: call.body },
      { service: next.service, method: next.method, body: filledAs(next.body, call.body) },
      action.summary,
    );
    const query = (next.query ?? []).map(([name, value]) => `${name}=${value}`).join('&');
    assert.ok(call.target.endsWith(next.path + (query && `?${query}`)), `${call.target} is not ${next.path} ${query}`);
    seen.set(i === 0 ? 'request' : 'otherwise', (seen.get(i === 0 ? 'request' : 'otherwise') ?? 0) + 1);
  }
  if (request) assert.ok(left.length > 0, `${action.summary}: ${request.operation} is planned, and not sent`);
}

/** Neutron's tags and its ports have others' words in them, which stay. */
function isReadFirst({ input, summary }: LoadBalancerAction, { body, operation }: FakeCall): boolean {
  const what = /^PUT \/(?:(?:floatingips|security-groups)\/.*\/(tags)|(ports)\/[^/]*)$/u.exec(operation);
  const [, tags, ports] = what ?? [];
  if (tags !== undefined) assert.ok('owner' in input, summary);
  else if (ports !== undefined)
    assert.ok('groupId' in input && JSON.stringify(body).includes('security_groups'), summary);
  else return false;
  seen.set(tags ?? 'ports', (seen.get(tags ?? 'ports') ?? 0) + 1);
  return true;
}

/** With the IDs that were sent in place of references. */
function filledAs(planned: unknown, sent: unknown): unknown {
  if (typeof planned !== 'object' || planned === null) return planned;
  if ('lookUp' in planned) return typeof sent === 'string' ? sent : planned;
  if (Array.isArray(planned)) return planned.map((one, i) => filledAs(one, (sent as unknown[] | undefined)?.[i]));
  return Object.fromEntries(
    Object.entries(planned).map(([key, one]) => [
      key,
      filledAs(one, (sent as Record<string, unknown> | undefined)?.[key]),
    ]),
  );
}
