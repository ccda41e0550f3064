/** What it costs to wait between two changes of a load balancer, and what to look at it again instead (docs/adr/0019). */
import { strict as assert } from 'node:assert';
import { test } from 'node:test';
import type { LoadBalancerService } from '@outrigger/cloud-provider';
import { annotated, portOf } from './desired/tree-inputs.suite.ts';
import { callContext, Rig, served, serviceNamed } from './rig.suite.ts';

interface Cost {
  readonly reads: number;
  readonly writes: number;
  readonly seconds: number;
}

async function costOf(
  updateMs: number,
  bring: (rig: Rig, service: LoadBalancerService) => Promise<void>,
): Promise<Cost> {
  const rig = await Rig.open({ loadBalancer: { createMonitor: true } });
  const web = serviceNamed('web', { ports: [portOf(80), portOf(443), portOf(8080)] });
  const was = served(web, await rig.bring(web));
  rig.cloud.octavia.settings.updateMs = updateMs;
  rig.cloud.calls.reset();
  const began = rig.clock.monotonic();
  const changed = annotated({ lbMethod: 'LEAST_CONNECTIONS', timeoutClientData: '9000', healthMonitorDelay: '9' });
  await bring(rig, { ...was, annotations: { ...was.annotations, ...changed } });
  const calls = rig.cloud.calls.all();
  const reads = calls.filter(({ operation }) => operation.startsWith('GET')).length;
  return { reads, writes: calls.length - reads, seconds: Math.round((rig.clock.monotonic() - began) / 1_000) };
}

/** As the host would, if each plan came to its first action alone: looked at again after a second, and then ever more seldom. */
async function oneByOne(rig: Rig, service: LoadBalancerService): Promise<void> {
  const desired = rig.desired(service);
  for (let polls = 0; ;) {
    const plan = rig.provider.plan(desired, await rig.look(service));
    if (plan.complete) return;
    const [action] = plan.actions;
    if (action) await rig.provider.apply(action, desired, callContext());
    polls = action ? 0 : polls + 1;
    await rig.clock.sleep(Math.min(30_000, 1_000 * 1.5 ** Math.max(0, polls - 1)));
  }
}

for (const { updateMs, reads } of [
  { updateMs: 1_000, reads: 23 },
  { updateMs: 3_000, reads: 45 },
  { updateMs: 10_000, reads: 107 },
]) {
  test(`nine changes that take ${updateMs / 1_000} s each: to wait costs ${reads} reads, fewer than to look again, and no more time`, async (t) => {
    const waits = await costOf(updateMs, async (rig, service) => assert.ok((await rig.bring(service)).complete));
    const looks = await costOf(updateMs, oneByOne);
    t.diagnostic(JSON.stringify({ updateMs, waits, looks }));
    assert.deepEqual([waits.writes, looks.writes], [9, 9]);
    assert.ok(waits.reads <= reads && waits.reads < looks.reads && waits.seconds <= looks.seconds);
  });
}
