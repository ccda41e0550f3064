/** What the real API server says to the Events that the recorder writes. */
import { clientOf, controlPlaneOrSkip } from '@outrigger/testing';
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createEventRecorder, noMetrics, resources, systemClock, type KubeObject, type Logger } from './index.ts';

test('real control plane: Events of every shape are accepted, counted up, and folded', async (t) => {
  const controlPlane = await controlPlaneOrSkip(t);
  if (!controlPlane) return;
  await using client = await clientOf(controlPlane.kubeconfig.path);
  const errors: string[] = [];
  const say = (message: string, fields?: object): void => void errors.push(`${message} ${JSON.stringify(fields)}`);
  const logger: Logger = {
    error: say,
    warn: say,
    info: () => {},
    verbose: () => {},
    enabled: () => false,
    with: () => logger,
  };
  const recorder = createEventRecorder({
    client,
    component: 'cloud-node-controller',
    host: 'host-1',
    clock: systemClock,
    logger,
    metrics: noMetrics,
    random: () => 0.5,
    maxPending: 20,
  });
  const written = async () =>
    (await client.of(resources.coreEvents).list({ namespace: 'default', fieldSelector: 'reason=Tried' })).items;
  const until = async (what: string, holds: (items: Awaited<ReturnType<typeof written>>) => boolean): Promise<void> => {
    const deadline = systemClock.monotonic() + 180_000;
    while (!holds(await written())) {
      assert.ok(systemClock.monotonic() < deadline, `not within 180 s: ${what}: ${errors.join('\n')}`);
      await systemClock.sleep(20);
    }
  };
  const node = (name: string): KubeObject => ({
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { name, uid: `uid-${name}` },
  });
  const service = { apiVersion: 'v1', kind: 'Service', metadata: { name: 'web', namespace: 'default', uid: 'x' } };
  const of = (about: KubeObject, message: string, type: 'Normal' | 'Warning' = 'Warning'): void =>
    recorder.record(about, { type, reason: 'Tried', message });
  of(node('Upper_Case'), 'a name that makes no Event name');
  of(service, 'about a namespaced object', 'Normal');
  of({ metadata: { name: 'no-kind' } }, 'about an object without kind');
  of(node('a'), 'x'.repeat(3_000));
  of(node('b'), 'first');
  await until('all are written', (items) => items.length === 5);
  of(node('b'), 'first');
  await until('it is counted up', (items) => items.some(({ count }) => count === 2));
  for (let i = 0; i < 60; i++) of(node(`n${i}`), 'flood');
  await recorder.close({ timeoutMs: 60_000 });

  const items = await written();
  const about = (name: string): (typeof items)[number] | undefined =>
    items.find(({ involvedObject }) => involvedObject?.name === name);
  assert.equal(about('b')?.count, 2);
  assert.equal(about('a')?.message?.length, 1_024);
  assert.ok(about('Upper_Case'));
  assert.ok(about('web'));
  assert.ok(about('no-kind'));
  const flood = items.filter(({ message }) => message?.includes('flood'));
  assert.equal(
    flood.reduce((sum, { count }) => sum + (count ?? 0), 0),
    60,
  );
  assert.ok(about('kube-system')?.message?.includes('more about objects of kind Node'));
  assert.deepEqual(errors.length, 1, errors.join('\n'));
});
