/** What a look costs in a project that others use too. */
import { strict as assert } from 'node:assert';
import { test } from 'node:test';
import { portOf } from './desired/tree-inputs.suite.ts';
import { callContext, Rig, served, serviceNamed } from './rig.suite.ts';

const OTHERS = 40;

interface Cost {
  calls: number;
  items: number;
  bytes: number;
}

/** Counts what lists answer, from here on. */
function counting(rig: Rig): Map<string, Cost> {
  const costs = new Map<string, Cost>();
  const list = rig.client.list.bind(rig.client);
  rig.client.list = async (call, request) => {
    const items = await list(call, request);
    const cost = costs.get(request.operation) ?? { calls: 0, items: 0, bytes: 0 };
    costs.set(request.operation, cost);
    cost.calls += 1;
    cost.items += items.length;
    cost.bytes += JSON.stringify(items).length;
    return items as never;
  };
  return costs;
}

async function withOthers(): Promise<Rig> {
  const rig = await Rig.open({ loadBalancer: { manageSecurityGroups: true } });
  const other = await rig.restarted({ clusterId: 'other', clusterName: 'other' });
  const ports = [portOf(80), portOf(443)];
  for (let i = 0; i < OTHERS; i++) await other.bring(serviceNamed(`x${i}`, { ports }));
  return rig;
}

test('a look at one Service answers for its own load balancer, and a line for each address and group of others', async () => {
  const rig = await withOthers();
  const web = serviceNamed('web', { ports: [portOf(80), portOf(443)] });
  const was = served(web, await rig.bring(web));
  const costs = counting(rig);
  rig.cloud.calls.reset();
  await rig.provider.observe([was], callContext());
  assert.deepEqual(
    [
      costs.get('GET /v2.0/lbaas/loadbalancers')?.items,
      costs.get('GET /v2.0/lbaas/listeners')?.items,
      costs.get('GET /v2.0/lbaas/pools')?.items,
    ],
    [1, 2, 2],
  );
  const bytes = [...costs.values()].reduce((sum, one) => sum + one.bytes, 0);
  // All of the project, with all that is said of each, is four times that.
  assert.ok(bytes < 50_000, `${bytes} bytes: ${JSON.stringify([...costs])}`);
  // Lists of load balancers, floating IPs, groups, ports, listeners and pools; the group's rules; the members of each pool.
  assert.ok(rig.cloud.calls.all().length <= 9, `${rig.cloud.calls.all().length} requests`);
});

test('what waits for one load balancer to settle asks about that one', async () => {
  const rig = await withOthers();
  const web = serviceNamed('web', { ports: [portOf(80), portOf(443)] });
  const was = served(web, await rig.bring(web));
  rig.cloud.octavia.settings.updateMs = 5_000;
  rig.backEnds = [...rig.backEnds, rig.addNode('node-3')];
  const costs = counting(rig);
  await rig.bring(was);
  const { calls = 0, items = 0 } = costs.get('GET /v2.0/lbaas/loadbalancers') ?? {};
  assert.ok(calls > 5 && items <= calls, `${items} load balancers in ${calls} lists`);
});
