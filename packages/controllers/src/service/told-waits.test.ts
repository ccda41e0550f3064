/** Whoever waits for what the cloud does not show says so to people: in an Event, and in the log, once in each process. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { silentLogger, type LogFields, type Logger } from '@outrigger/kube';
import { partOf, served, type Told } from './told-cloud.suite.ts';

const HOUR_MS = 3_600_000;

/** What is said about waits, in each process anew. */
async function restarted({ rig }: Told): Promise<readonly LogFields[]> {
  const said: LogFields[] = [];
  const logger: Logger = {
    ...silentLogger,
    warn: (message, fields = {}) => void (message.includes('does not list') && said.push(fields)),
    with: () => logger,
  };
  await rig.stop();
  await rig.start({}, { logger });
  return said;
}

const countOf = ({ rig }: Told, reason: string): number => rig.events.filter((event) => event.reason === reason).length;

test('each process that waits says so once, also one that goes on with a wait that is written down', async () => {
  const told = await served('load-balancer a');
  const { api, clock } = told.rig;
  told.parts = [];
  api.delete('web');
  for (let processes = 1; processes <= 2; processes++) {
    const said = await restarted(told);
    await clock.advance(10_000);
    assert.ok(api.get('web'), 'it waits');
    assert.deepEqual(
      said.map(({ missing }) => missing),
      [['load-balancer a']],
    );
    assert.equal(countOf(told, 'LoadBalancerPartsMissing'), processes);
  }
  await told.rig.stop();
});

test('a deleted Service that waits is said too', async () => {
  const told = await served('load-balancer a');
  const said = await restarted(told);
  const { api, clock } = told.rig;
  await clock.advance(10_000);
  told.parts = [];
  api.delete('web');
  api.services.remove('default/web');
  await clock.advance(60_000);
  assert.ok(told.rig.explain('uid-1'), 'it waits');
  assert.deepEqual(
    said.map(({ missing }) => missing),
    [['load-balancer a']],
  );
  await told.rig.stop();
});

test('what a direct read shows and no list does is said once it has lasted', async () => {
  const told = await served('load-balancer a');
  told.rig.provider.read = (questions) => Promise.resolve(questions.map(() => ({ kind: 'there' })));
  const said = await restarted(told);
  const { api, clock } = told.rig;
  await clock.advance(10_000);
  told.parts = [];
  api.delete('web');
  await clock.advance(20_000);
  assert.deepEqual([said, countOf(told, 'LoadBalancerPartsHidden')], [[], 0], 'lists lag');
  await clock.advance(HOUR_MS);
  assert.ok(api.get('web'), 'it waits');
  assert.deepEqual(said, [{ missing: ['load-balancer a'] }]);
  await told.rig.stop();
});

test('a wait that has ended is said again when there is another', async () => {
  const told = await served('load-balancer a');
  const said = await restarted(told);
  const { api, clock } = told.rig;
  await clock.advance(10_000);
  for (let waits = 1; waits <= 2; waits++) {
    const port = 80 + waits;
    told.parts = [];
    api.apply('web', { ...api.get('web')?.spec, ports: [{ port, nodePort: 30_000 + port }] });
    await clock.advance(20_000);
    assert.equal(said.length, waits);
    told.parts = [partOf('load-balancer a')];
    await clock.advance(60_000);
  }
  await told.rig.stop();
});
