/** What this program, or another, writes to a Service brings nothing forward that waits for its own time. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CloudError, loadBalancerOwnerAnnotation } from '@outrigger/cloud-provider';
import { StatusError } from '@outrigger/kube';
import { FLOATING, ips, refusedSpec, servedAtFloating, VIP } from './floating-address.suite.ts';
import { servedRig, webSpec, type Rig } from './rig.suite.ts';
import { createTold, partOf } from './told-cloud.suite.ts';
import { cleanupFinalizer } from './well-known-names.ts';

const MINUTE_MS = 60_000;
const conflict = (): StatusError => new StatusError('PATCH', 409, { reason: 'Conflict', code: 409 });

async function seconds(rig: Rig, count: number): Promise<void> {
  for (let i = 0; i < count; i++) await rig.clock.advance(1_000);
}

test('a deletion that fails in another way each time is tried with back-off, although its condition is written each time', async () => {
  const rig = await servedRig();
  let tries = 0;
  rig.provider.before = () => {
    tries += 1;
    throw new CloudError(tries % 2 === 0 ? 'unavailable' : 'conflict', 'down', { effect: 'none' });
  };
  rig.api.delete('web');
  await seconds(rig, 60);
  assert.ok(tries >= 3 && tries <= 6, `${tries} tries`);
  rig.provider.before = () => {};
  await rig.clock.advance(6 * MINUTE_MS);
  assert.equal(rig.api.get('web'), undefined);
  await rig.stop();
});

test('… and although another program takes its condition away each time', async () => {
  const rig = await servedRig();
  let tries = 0;
  rig.provider.before = () => {
    tries += 1;
    throw new CloudError('unavailable', 'down');
  };
  rig.api.services.store.subscribe((change) => {
    if (change.type === 'delete' || tries > 500 || !change.object.status?.conditions?.length) return;
    const { conditions: _, ...status } = change.object.status;
    setImmediate(() => rig.api.services.put({ ...change.object, status }));
  });
  rig.api.delete('web');
  await seconds(rig, 60);
  assert.ok(tries >= 3 && tries <= 6, `${tries} tries`);
  await rig.stop();
});

test('an unclaimed one that waits is cleaned up as soon as a person says whose it is', async () => {
  const told = await createTold();
  const { api, clock } = told.rig;
  const deletionTimestamp = new Date(clock.now()).toISOString();
  api.apply('web', { ...webSpec, type: 'ClusterIP' }, { finalizers: [cleanupFinalizer], deletionTimestamp });
  await told.rig.start();
  await clock.advance(MINUTE_MS);
  assert.deepEqual(api.get('web')?.metadata?.finalizers, [cleanupFinalizer]);
  const { metadata, spec = webSpec } = api.get('web') ?? {};
  api.apply('web', spec, { ...metadata, annotations: { [loadBalancerOwnerAnnotation]: 'memory' } });
  await clock.advance(2 * MINUTE_MS);
  assert.equal(api.get('web'), undefined);
  await told.rig.stop();
});

test('the finalizer that could not be removed, since another wrote at the same time, is removed a moment later', async () => {
  const rig = await servedRig();
  let refused = 0;
  rig.api.before = () => {
    if (rig.partsOf('uid-1').length > 0 || refused > 0) return;
    refused += 1;
    throw conflict();
  };
  rig.api.delete('web');
  await rig.clock.advance(MINUTE_MS);
  assert.equal(refused, 1);
  assert.equal(rig.api.get('web'), undefined);
  await rig.stop();
});

test('addresses that cannot be written, since another writes at the same time, are tried ever more seldom', async () => {
  const rig = await servedRig();
  const service = rig.api.get('web');
  let writes = 0;
  rig.api.before = () => {
    writes += 1;
    throw conflict();
  };
  rig.api.services.put({ ...service, status: {} });
  await seconds(rig, 600);
  assert.ok(writes >= 10 && writes <= 40, `${writes} writes`);
  rig.api.before = () => {};
  await seconds(rig, 60);
  assert.deepEqual(rig.api.get('web')?.status?.loadBalancer, service?.status?.loadBalancer);
  rig.api.services.put({ ...rig.api.get('web'), status: {} });
  await seconds(rig, 3);
  assert.deepEqual(rig.api.get('web')?.status?.loadBalancer, service?.status?.loadBalancer, 'at once again');
  await rig.stop();
});

test('an address that was taken away, and that another writes back, is judged anew each time', async () => {
  const told = await servedAtFloating();
  const { api, clock } = told.rig;
  api.apply('web', refusedSpec);
  await clock.advance(10_000);
  told.parts = [{ ...partOf('load-balancer a'), addresses: [VIP] }];
  let times = 0;
  api.after = () => {
    const service = api.get('web');
    if (times >= 300 || ips(told).includes(FLOATING)) return;
    times += 1;
    api.services.put({ ...service, status: { ...service?.status, loadBalancer: { ingress: [{ ip: FLOATING }] } } });
  };
  await seconds(told.rig, 1_200);
  assert.ok(times >= 3 && times <= 14, `${times} times`);
  api.after = () => {};
  await seconds(told.rig, 300);
  assert.deepEqual(ips(told), []);
  await told.rig.stop();
});
