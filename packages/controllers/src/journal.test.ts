import assert from 'node:assert/strict';
import { test } from 'node:test';
import { noMetrics, silentLogger, type Metrics } from '@outrigger/kube';
import { FakeClock } from '@outrigger/testing';
import { Journal, type Subject } from './journal.ts';

const node: Subject = { kind: 'Node', name: 'a', uid: 'uid-a' };
const action = { kind: 'patch-object', summary: 'set its labels key=hunter2' };

function journalOf(dryRun: boolean): { readonly journal: Journal; readonly clock: FakeClock } {
  const clock = new FakeClock();
  const redact = (text: string): string => text.replaceAll('hunter2', '<redacted>');
  return { clock, journal: new Journal({ clock, logger: silentLogger, dryRun, redact }) };
}

test('a dry run carries nothing out: it says what would be done, since when, and forgets it when that is over', async () => {
  const { clock, journal } = journalOf(true);
  const own = journal.of('some-controller');
  const since = clock.now();
  assert.equal(await own.perform(node, [action], () => assert.fail('carried out')), undefined);
  await clock.advance(5_000);
  await own.perform(node, [action], () => assert.fail('carried out'));
  const actions = [{ ...action, summary: 'set its labels key=<redacted>' }];
  assert.deepEqual(journal.plans(), [{ controller: 'some-controller', subject: node, since, actions }]);
  journal.of('another').plan(node, []);
  assert.equal(journal.plans().length, 1);
  own.plan(node, []);
  assert.deepEqual(journal.plans(), []);
  assert.deepEqual(journal.applied('uid-a'), []);
});

test('otherwise it carries out and notes what came of it, without secrets', async () => {
  const { clock, journal } = journalOf(false);
  const own = journal.of('some-controller');
  assert.equal(await own.perform(node, [action], () => Promise.resolve(7)), 7);
  await assert.rejects(
    own.perform(node, [action], () => Promise.reject(new Error('no: hunter2'))),
    /no/u,
  );
  await own.perform(
    node,
    [action],
    () => Promise.resolve(false),
    () => 'not now',
  );
  own.note(node, [action], { pending: 'task-1' });
  const noted = journal.applied('uid-a');
  assert.deepEqual(
    noted.map(({ detail, result }) => [result, detail]),
    [
      ['done', undefined],
      ['failed', 'no: <redacted>'],
      ['failed', 'not now'],
      ['pending', 'task-1'],
    ],
  );
  assert.ok(noted.every(({ at, summary }) => at === clock.now() && !summary.includes('hunter2')));
  assert.deepEqual(journal.plans(), []);
});

test('of each object the last 8 actions are kept, and routes are found by their name', () => {
  const { journal } = journalOf(false);
  const own = journal.of('some-controller');
  for (let i = 0; i < 300; i++)
    own.note({ kind: 'Route', name: '10.0.0.0/24', uid: `uid-${i % 2}` }, [{ kind: 'x', summary: `${i}` }]);
  const last = (about: string): string | undefined => journal.applied(about).at(-1)?.summary;
  assert.equal(journal.applied('uid-0').length, 8);
  assert.deepEqual([last('uid-0'), last('Route 10.0.0.0/24')], ['298', '299']);
  assert.deepEqual(journal.applied('nobody'), []);
});

test('what comes of the actions of each controller is counted, and in a dry run what is planned', async () => {
  const sums: Record<string, number> = {};
  const of = (name: string, labels: object | undefined): string => `${name} ${Object.values(labels ?? {}).join(' ')}`;
  const metrics: Metrics = {
    ...noMetrics,
    counter: ({ name }) => ({
      inc: (labels, by = 1) => void (sums[of(name, labels)] = (sums[of(name, labels)] ?? 0) + by),
    }),
    gauge: ({ name }) => ({ set: (value, labels) => void (sums[of(name, labels)] = value) }),
  };
  const options = { clock: new FakeClock(), logger: silentLogger, redact: (text: string) => text, metrics };
  const own = new Journal({ ...options, dryRun: false }).of('one');
  await own.perform(node, [action, action], () => Promise.resolve());
  await assert.rejects(own.perform(node, [action], () => Promise.reject(new Error('no'))));
  own.note(node, [action], { pending: 'task-1' });
  const dry = new Journal({ ...options, dryRun: true });
  dry.of('one').plan(node, [action, { ...action, summary: 'set its taints' }]);
  dry.of('one').plan({ ...node, name: 'b' }, [action]);
  dry.of('two').plan(node, [action]);
  dry.of('two').plan(node, []);
  dry.of('two').plan(node, []);
  dry.of('one').plan(node, [action]);
  assert.deepEqual(sums, {
    'outrigger_actions_total one patch-object done': 2,
    'outrigger_actions_total one patch-object failed': 1,
    'outrigger_actions_total one patch-object pending': 1,
    'outrigger_actions_planned one': 2,
    'outrigger_actions_planned two': 0,
  });
});
