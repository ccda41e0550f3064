/** What Octavia refuses ends a plan, and the host waits longer than the change is held: it is last in the next plan, and nothing waits for it. */
import { strict as assert } from 'node:assert';
import { test } from 'node:test';
import { annotated, portOf } from './desired/tree-inputs.suite.ts';
import { changesOf, goOn, goOnFailing, MINUTE_MS } from './failed-children.suite.ts';
import { Rig, served, serviceNamed } from './rig.suite.ts';

const portsIn = (rig: Rig): readonly number[] =>
  [...rig.cloud.octavia.store.listeners.values()].map((one) => one.protocol_port).toSorted((a, b) => a - b);

function refuse(rig: Rig, operation: string, status: number, part: string): void {
  const when = ({ path }: { readonly path: string }): boolean => path.includes(part);
  rig.cloud.faults.set({ service: 'load-balancer', operation, effect: 'status', status, when });
}

for (const [status, betweenMs] of [
  [403, 300_000],
  [409, 40_000],
] as const) {
  test(`ports come although the removal of others is answered with ${status}`, async () => {
    const rig = await Rig.open();
    const web = serviceNamed('web', { ports: [portOf(80), portOf(81), portOf(83)] });
    const was = served(web, await rig.bring(web));
    refuse(rig, 'DELETE', status, '/pools/');
    await goOnFailing(rig, { ...was, ports: [portOf(80), portOf(82)] }, 60 * MINUTE_MS, betweenMs);
    assert.deepEqual(portsIn(rig), [80, 81, 82, 83]);
  });
}

for (const status of [400, 403, 500]) {
  test(`a port comes although the change of another in ERROR is answered with ${status}`, async () => {
    const rig = await Rig.open();
    const web = serviceNamed('web');
    const was = served(web, await rig.bring(web));
    const { octavia } = rig.cloud;
    const [id = ''] = octavia.store.listeners.keys();
    octavia.setProvisioningStatus(id, 'ERROR');
    refuse(rig, 'PUT', status, id);
    await goOnFailing(rig, { ...was, ports: [portOf(80), portOf(82)] }, 60 * MINUTE_MS, 300_000);
    assert.deepEqual(portsIn(rig), [80, 82]);
  });
}

test('a port of another protocol comes after what is there, however often its removal is refused', async () => {
  const rig = await Rig.open();
  const web = serviceNamed('web');
  const was = served(web, await rig.bring(web));
  refuse(rig, 'DELETE', 403, '/pools/');
  const annotations = { ...was.annotations, ...annotated({ xForwardedFor: 'true' }) };
  await goOnFailing(rig, { ...was, annotations, ports: [portOf(80), portOf(82)] }, 60 * MINUTE_MS, 300_000);
  assert.deepEqual(portsIn(rig), [80, 82]);
  rig.cloud.faults.set();
  const plans = await goOn(rig, { ...was, annotations, ports: [portOf(80), portOf(82)] }, 6 * MINUTE_MS, 5_000);
  assert.equal(plans.at(-1)?.complete, true);
});

test('a load balancer that was replaced is waited for while a listener of anybody on it cannot be removed', async () => {
  const rig = await Rig.open({ loadBalancer: { cascadeDelete: false } });
  const web = serviceNamed('web');
  const was = served(web, await rig.bring(web));
  const { octavia } = rig.cloud;
  const [first] = octavia.store.listeners.values();
  assert.ok(first);
  const made = await rig.bring(serviceNamed('other', { ports: [portOf(90)] }));
  const loadBalancerId = made.annotations?.['loadbalancer.openstack.org/load-balancer-id'] ?? '';
  // As an operator makes one.
  Object.assign(first, { name: 'debug', tags: [] });
  refuse(rig, 'DELETE', 409, first.id);
  const shared = { ...was, annotations: { ...was.annotations, ...annotated({ loadBalancerId }) } };
  const plans = await goOn(rig, shared, 10 * MINUTE_MS, 5_000);
  assert.ok(octavia.store.listeners.has(first.id));
  assert.deepEqual(
    plans.filter(({ complete }) => complete),
    [],
  );
});

test('OVN: a listener that has served is not made anew, however long its change is refused', async () => {
  const rig = await Rig.open({ loadBalancer: { lbProvider: 'ovn' } });
  rig.cloud.octavia.settings.providers = ['ovn'];
  const web = serviceNamed('web');
  const was = served(web, await rig.bring(web));
  await rig.look(was);
  const { octavia } = rig.cloud;
  const [id = ''] = octavia.store.listeners.keys();
  octavia.setProvisioningStatus(id, 'ERROR');
  refuse(rig, 'PUT', 500, id);
  rig.cloud.calls.reset();
  await goOn(rig, was, 90 * MINUTE_MS, 20_000);
  assert.deepEqual(
    changesOf(rig).filter((one) => one.startsWith('DELETE')),
    [],
  );
});

test('a removal that was refused once is not kept behind a port for which it makes room', async () => {
  const rig = await Rig.open();
  const web = serviceNamed('web', { ports: [portOf(80), portOf(81)] });
  const was = served(web, await rig.bring(web));
  const { faults, octavia } = rig.cloud;
  const isFull = ({ method, path }: { readonly method: string; readonly path: string }): boolean =>
    method === 'POST' && path.endsWith('/listeners') && octavia.store.listeners.size >= 2;
  faults.set(
    { service: 'load-balancer', operation: 'DELETE', effect: 'status', status: 500, times: 1 },
    { service: 'load-balancer', effect: 'status', status: 403, when: isFull },
  );
  await goOnFailing(rig, { ...was, ports: [portOf(80), portOf(82)] }, 10 * MINUTE_MS, MINUTE_MS);
  assert.deepEqual(portsIn(rig), [80, 82]);
});
