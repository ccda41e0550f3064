import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { CallRecord } from '@outrigger/cloud-runtime';
import { Journal, type Finding } from '@outrigger/controllers';
import { silentLogger, systemClock, type Clock } from '@outrigger/kube';
import { FakeClock } from '@outrigger/testing';
import { explainPage } from './explain-page.ts';
import { explanationOf } from './explanation.ts';
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

function setUp(clock: Clock = systemClock): { readonly explanations: Explanations; readonly journal: Journal } {
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
  for (const wrong of ['', 'pod', 'pod/', 'pod/a', 'persistentvolume/'])
    assert.equal((await page.answer(wrong)).status, 404, wrong);
  assert.equal((await page.answer('node/')).status, 503);
  assert.deepEqual(await page.answer('node/a'), {
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
  assert.equal((await page.answer('service/default/web')).status, undefined);
  assert.equal((await page.answer('route/10.0.0.0/24')).status, undefined);
  assert.equal((await page.answer('service/gone')).status, 404);
  assert.deepEqual(seen, ['default/web', '10.0.0.0/24', 'gone']);
  assert.deepEqual(await page.answer('service/gone'), {
    status: 404,
    body: 'no running controller knows a service gone',
  });
  assert.deepEqual(await page.answer('persistentvolume/a'), {
    status: 404,
    body: 'no controller that manages a persistentvolume runs: see --controllers',
  });
  const approving = explanations.follow(controllerOf(undefined), { kinds: ['certificatesigningrequest'] });
  const approves = approving.run(stop.signal);
  assert.deepEqual(await page.answer('certificatesigningrequest/a'), {
    status: 404,
    body: 'no running controller knows a certificatesigningrequest a; only those of the signer kubernetes.io/kubelet-serving are read',
  });
  stop.abort();
  await Promise.all([run, approves]);
});

test('what is planned is asked for by its name, of one that is deleted by its UID', () => {
  const asked = (kind: string, name: string): string | undefined => {
    const explanation = explanationOf({ kind: kind as 'Node', name, uid: 'uid-a' });
    return explanation && `${explanation.kind} ${explanation.name}`;
  };
  assert.equal(asked('PersistentVolume', 'data-1'), 'persistentvolume data-1');
  assert.equal(asked('Service', 'default/web'), 'service default/web');
  assert.equal(asked('Service', 'default/web (deleted)'), 'service uid-a');
  assert.equal(asked('LoadBalancerPart', 'uid-a'), 'service uid-a');
  assert.equal(asked('Pod', 'a'), undefined, 'of another version');
});

test('the list of a kind has the lines of its controllers, without ages or secrets, and is made once a second', async () => {
  const clock = new FakeClock();
  const { explanations } = setUp(clock);
  const stop = new AbortController();
  let made = 0;
  const listing = (controller: string, name: string): Parameters<Explanations['follow']>[0] => ({
    ...controllerOf(undefined),
    list: (kind) => {
      made++;
      const planned = [
        { text: 'Try again with hunter2.', inMs: 7_400 },
        { text: 'Seen.', agoMs: 2_600 },
        { text: 'Wait.' },
      ];
      return [{ name, controller, state: kind, planned }];
    },
  });
  const runs = [
    explanations.follow(listing('a', 'x'), { kinds: ['node', 'route'] }),
    explanations.follow(listing('b', 'y'), { kinds: ['node'] }),
    explanations.follow(controllerOf(undefined), { kinds: ['node'] }),
  ].map((controller) => controller.run(stop.signal));
  const page = explainPage({ explanations }, () => '');
  const { body } = await page.answer('node/');
  const now = Math.round(clock.now() / 1_000);
  const planned = [
    { text: 'Try again with <redacted>.', at: now + 7 },
    { text: 'Seen.', at: now - 3 },
    { text: 'Wait.' },
  ];
  assert.deepEqual(body, {
    kind: 'node',
    dryRun: false,
    items: [
      { name: 'x', controller: 'a', state: 'node', planned },
      { name: 'y', controller: 'b', state: 'node', planned },
    ],
  });
  await Promise.all([explanations.list('node'), explanations.list('node')]);
  assert.equal(made, 2);
  assert.equal((await explanations.list('route')).items.length, 1);
  await clock.advance(1_000);
  await explanations.list('node');
  assert.equal(made, 5);
  stop.abort();
  await Promise.all(runs);
});

test('a long list gives way to all else that runs', async () => {
  const { explanations } = setUp();
  const stop = new AbortController();
  let taken = 0;
  const turns = (): number => taken;
  const controller: Parameters<Explanations['follow']>[0] = {
    ...controllerOf(undefined),
    *list() {
      while (turns() < 3) yield { name: 'node-1', controller: 'a', state: 'act', planned: [] };
    },
  };
  const run = explanations.follow(controller, { kinds: ['node'] }).run(stop.signal);
  const count = (): void => {
    taken++;
    if (taken < 3) setImmediate(count);
  };
  setImmediate(count);
  // The list ends only if something else has run meanwhile.
  assert.ok((await explanations.list('node')).items.length > 0);
  stop.abort();
  await run;
});
