import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CloudError, type CloudProvider } from '@outrigger/cloud-provider';
import { Bench, greenCloud, until } from '../packages/cloud-controller-manager/src/program/program-bench.suite.ts';
import { quickClock } from './quick-clock.ts';

test('--dry-run --once prints what is planned and ends with 2, with 0 when nothing is, and with 1 when it is not known', async () => {
  await using bench = await Bench.start();
  bench.clock = quickClock(5);
  bench.addNode('node-1');
  const planned = await bench.run(greenCloud(), '--dry-run', '--once');
  assert.equal(await planned.ended, 2, planned.log());
  assert.match(
    planned.out(),
    /^Node node-1 \(cloud-node-controller\)\n(?: {2}\+ .+\n(?: {6}\S.* → .+\n)+)+Planned: \d+ actions? for 1 object\.\n$/u,
  );
  assert.match(planned.out(), /^ {6}spec\.taints\[0\]: \{.*uninitialized.*\} → \(none\)$/mu);
  assert.match(planned.out(), /^ {6}spec\.providerID: \(none\) → "green:.*"$/mu);
  assert.ok(!bench.isInitialised('node-1'));

  const down: CloudProvider = {
    ...greenCloud(),
    open: async (host) => {
      const instances = (await greenCloud().open(host)).instances;
      if (!instances) throw new Error('no instances');
      const lookUp: typeof instances.lookUp = (_nodes, _need, call) =>
        call.call({ name: 'GET /machines' }, () => Promise.reject(new CloudError('forbidden', 'no')));
      return { instances: { ...instances, lookUp } };
    },
  };
  const unknown = await bench.run(down, '--dry-run', '--once');
  assert.equal(await unknown.ended, 1, unknown.log());
  assert.match(unknown.out(), /^Not known: green: GET \/machines: forbidden$/mu);

  const program = await bench.run(greenCloud());
  await until('initialised', () => bench.isInitialised('node-1'), program.log);
  program.signal('SIGTERM');
  await program.ended;
  const nothing = await bench.run(greenCloud(), '--dry-run', '--once');
  assert.equal(await nothing.ended, 0, nothing.log());
  assert.equal(nothing.out(), 'Nothing is planned.\n');
  const alone = await bench.run(greenCloud(), '--once');
  assert.equal(await alone.ended, 1);
  assert.match(alone.log(), /--once needs --dry-run/u);
});
