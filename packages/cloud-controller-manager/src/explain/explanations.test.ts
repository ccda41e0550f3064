import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { CallRecord } from '@outrigger/cloud-runtime';
import { Journal, type Finding } from '@outrigger/controllers';
import { silentLogger } from '@outrigger/kube';
import { FakeClock } from '@outrigger/testing';
import { explainPage } from './explain-page.ts';
import { Explanations } from './explanations.ts';

const finding: Finding = {
  controller: 'some-controller',
  about: ['uid-a'],
  observed: [{ text: 'The cloud failed: token hunter2 has expired.', agoMs: 5 }],
  planned: [{ text: 'Try again with hunter2.', inMs: 7 }],
};
const record: CallRecord = {
  operation: 'GET /x',
  startedAt: 1,
  durationMs: 2,
  code: 'ok',
  priority: 'normal',
  attempt: 1,
};

function setUp(): { readonly explanations: Explanations; readonly journal: Journal } {
  const clock = new FakeClock();
  const redact = (text: string): string => text.replaceAll('hunter2', '<redacted>');
  const journal = new Journal({ clock, logger: silentLogger, dryRun: false, redact });
  return { journal, explanations: new Explanations(clock, journal, redact) };
}

/** A controller that runs until it is told to stop. */
function controllerOf(answer: Finding | undefined): Parameters<Explanations['follow']>[0] {
  return {
    explain: () => answer,
    run: (signal) => new Promise((resolve) => signal.addEventListener('abort', () => resolve())),
  };
}

test('controllers are asked while they run, each about its kinds; nothing that is said holds a secret', async () => {
  const { explanations, journal } = setUp();
  const provider = { recentCalls: (uid?: string) => (uid === 'uid-a' ? [record] : []) };
  const subject = { kind: 'Node', name: 'a', uid: 'uid-a' } as const;
  journal.of('some-controller').note(subject, [{ kind: 'x', summary: 'set hunter2' }]);
  const stop = new AbortController();
  const controllers = [
    explanations.follow(controllerOf(finding), { kinds: ['node'], provider }),
    // The same provider: its calls are shown once.
    explanations.follow(controllerOf({ ...finding, controller: 'another' }), { kinds: ['node', 'route'], provider }),
    explanations.follow(controllerOf(undefined), { kinds: ['service'] }),
  ];
  assert.equal(explanations.areThere, false);
  assert.equal(explanations.explain('node', 'a'), undefined);
  const runs = controllers.map((controller) => controller.run(stop.signal));
  const told = explanations.explain('node', 'a');
  assert.deepEqual(
    told?.findings.map(({ controller }) => controller),
    ['some-controller', 'another'],
  );
  assert.deepEqual(told?.calls, [record]);
  assert.equal(told?.applied.length, 1);
  assert.doesNotMatch(JSON.stringify(told), /hunter2/u);
  assert.equal(explanations.explain('service', 'default/a'), undefined);
  stop.abort();
  await Promise.all(runs);
  assert.equal(explanations.areThere, false);
});

test('the page: what is no object is 404, who does not lead says who does, and names keep their slashes', async () => {
  const { explanations } = setUp();
  const page = explainPage({ explanations }, () => 'host-2_x');
  assert.equal(page.path, '/explain/');
  for (const wrong of ['', 'node', 'node/', 'pod/a']) assert.equal(page.answer(wrong).status, 404, wrong);
  assert.deepEqual(page.answer('node/a'), {
    status: 503,
    body: 'no controller runs in this process; send the request to the leader, host-2_x',
  });
  const stop = new AbortController();
  const seen: string[] = [];
  const controller = {
    ...controllerOf(finding),
    explain: (key: string) => (seen.push(key), key === 'gone' ? undefined : finding),
  };
  const run = explanations.follow(controller, { kinds: ['service', 'route'] }).run(stop.signal);
  assert.equal(page.answer('service/default/web').status, undefined);
  assert.equal(page.answer('route/10.0.0.0/24').status, undefined);
  assert.equal(page.answer('service/gone').status, 404);
  assert.deepEqual(seen, ['default/web', '10.0.0.0/24', 'gone']);
  stop.abort();
  await run;
});
