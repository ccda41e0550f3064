import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isCloudError, type Route, type Routes } from '@outrigger/cloud-provider';
import { silentLogger } from '@outrigger/kube';
import { FakeClock } from '@outrigger/testing';
import { callContext } from '../load-balancer/memory-provider.suite.ts';
import { CloudRoutes } from './cloud-routes.ts';

const never = (): Promise<never> => new Promise(() => {});
const route: Route = { id: 'r', destination: '10.0.0.0/24', blackhole: false, ownership: 'owned' };

function setUp(): { readonly clock: FakeClock; readonly ended: AbortController; readonly cloud: CloudRoutes } {
  const clock = new FakeClock();
  const ended = new AbortController();
  // It looks at no signal.
  const routes: Routes = { batchSize: 10, list: never, create: never, delete: never };
  const cloud = new CloudRoutes({
    routes,
    callContext: ({ signal, priority }) => callContext(signal, priority),
    clock,
    logger: silentLogger,
    signal: ended.signal,
  });
  return { clock, ended, cloud };
}

test('a provider that never answers and does not look at its signal is given up after the time of a call', async () => {
  const { clock, cloud } = setUp();
  const listed = assert.rejects(cloud.list(), (error) => isCloudError(error, 'timeout'));
  const deleted = cloud.delete([route]);
  await clock.advance(60_000);
  await listed;
  const [result] = await deleted;
  assert.ok(result?.kind === 'failed' && isCloudError(result.error, 'timeout'));
});

test('and keeps nobody from ending', async () => {
  const { cloud, ended } = setUp();
  const listed = assert.rejects(cloud.list(), /the end/u);
  const deleted = cloud.delete([route]);
  ended.abort(new Error('the end'));
  await listed;
  assert.equal((await deleted)[0]?.kind, 'failed');
});
