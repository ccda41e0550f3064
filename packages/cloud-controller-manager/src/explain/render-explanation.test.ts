import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Explanation } from './explanation.ts';
import { renderExplanation } from './render-explanation.ts';

const at = Date.UTC(2026, 0, 2, 3, 4, 5, 678);
const subject = { kind: 'Node', name: 'worker-1', uid: 'u' } as const;

const node: Explanation = {
  kind: 'node',
  name: 'worker-1',
  at,
  dryRun: false,
  findings: [
    {
      controller: 'cloud-node-controller',
      about: ['u'],
      observed: [
        { text: 'The node was registered.', agoMs: 4_321 },
        { text: 'Look-up: the cloud did not list its machine (inconclusive).', agoMs: 12 },
      ],
      planned: [{ text: 'Look it up in the cloud again.', inMs: 1_700 }],
    },
    {
      controller: 'cloud-node-lifecycle-controller',
      about: ['u'],
      observed: [],
      planned: [
        { text: 'Nothing: it was never initialised.', inMs: 595_679 },
        { text: 'At once.', inMs: 3 },
      ],
    },
  ],
  applied: [
    {
      controller: 'cloud-node-controller',
      subject,
      kind: 'patch-status',
      summary: 'set its addresses: InternalIP 10.0.0.1',
      at: at - 3_600_000,
      result: 'failed',
      detail: 'conflict',
    },
  ],
  calls: [
    {
      operation: 'POST /instances:batchGet',
      startedAt: at - 30,
      durationMs: 18.4,
      code: 'ok',
      priority: 'normal',
      attempt: 1,
    },
    {
      operation: 'GET /instances/{id}',
      startedAt: at - 5,
      durationMs: 2,
      code: 'throttled',
      priority: 'normal',
      attempt: 2,
    },
  ],
};

test('an explanation reads as sentences, with ages and times', () => {
  assert.equal(
    renderExplanation(node),
    `node worker-1, at 2026-01-02T03:04:05.678Z

cloud-node-controller
  The node was registered. (4s ago)
  Look-up: the cloud did not list its machine (inconclusive). (0.01s ago)
  Planned:
    - Look it up in the cloud again. (in 2s or later)

cloud-node-lifecycle-controller
  Planned:
    - Nothing: it was never initialised. (in 9m56s or later)
    - At once. (now)

Last applied
  2026-01-02T02:04:05.678Z  cloud-node-controller: set its addresses: InternalIP 10.0.0.1 (failed: conflict)

Last requests to the cloud
  2026-01-02T03:04:05.648Z  POST /instances:batchGet: ok after 18 ms
  2026-01-02T03:04:05.673Z  GET /instances/{id}: throttled after 2 ms, attempt 2
`,
  );
});

test('a dry run says that it would, and that it has done nothing', () => {
  const text = renderExplanation({
    ...node,
    kind: 'route',
    name: '10.244.1.0/24',
    dryRun: true,
    findings: node.findings.slice(0, 1).map((one) => ({ ...one, observed: [] })),
    applied: [],
    calls: [],
  });
  assert.equal(
    text,
    `route 10.244.1.0/24, at 2026-01-02T03:04:05.678Z

cloud-node-controller
  Planned (dry run):
    - Look it up in the cloud again. (in 2s or later)

Last applied
  Nothing: this is a dry run.

Last requests to the cloud
  None that is remembered.
`,
  );
});

test('what others wrote tells the terminal nothing, and makes no line of its own', () => {
  const hostile = 'refused\u001B[2J\u009B1m\r\nLast applied';
  const text = renderExplanation({
    ...node,
    findings: [{ controller: 'c', about: [], observed: [{ text: hostile }], planned: [{ text: hostile, inMs: 9 }] }],
    applied: node.applied.map((one) => ({ ...one, detail: hostile })),
  });
  assert.doesNotMatch(text, /[^\P{Cc}\n]/u);
  assert.equal(text.match(/^Last applied$/gmu)?.length, 1);
});

test('what a server says that is no manager of ours tells the terminal nothing', () => {
  const hostile = 'a\u001B]0;owned\u0007\u009B2J\u202E\nb';
  const [call] = node.calls;
  const [applied] = node.applied;
  assert.ok(call && applied);
  const text = renderExplanation({
    ...node,
    name: hostile,
    findings: [{ controller: hostile, about: [], observed: [{ text: hostile }], planned: [{ text: hostile }] }],
    applied: [{ ...applied, controller: hostile, summary: hostile }],
    calls: [{ ...call, operation: hostile, code: hostile }],
  });
  assert.doesNotMatch(text, /[^\P{Cc}\n]|\p{Bidi_Control}/u);
  assert.doesNotMatch(text, /^b/mu);
});
