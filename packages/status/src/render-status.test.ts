import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ClusterStatus, WebhookStatus } from './cluster-status.ts';
import { renderStatus } from './render-status.ts';

const healthy: ClusterStatus = {
  apiVersion: 'status.outrigger.dev/v1alpha1',
  kind: 'ClusterStatus',
  at: '2026-11-23T10:00:00.000Z',
  server: 'https://api.example:6443',
  state: 'healthy',
  problems: [],
  leader: {
    value: {
      lease: 'kube-system/cloud-controller-manager',
      holder: 'control-1_abc',
      host: 'control-1',
      holds: true,
      renewedAt: '2026-11-23T09:59:58.000Z',
      since: '2026-11-20T10:00:00.000Z',
      transitions: 2,
    },
  },
  workloads: {
    value: [
      {
        kind: 'DaemonSet',
        namespace: 'kube-system',
        name: 'outrigger-cloud-controller-manager',
        image: 'outrigger/cloud-controller-manager:v0.1.0',
        version: 'v0.1.0',
        desired: 3,
        ready: 3,
        updated: 3,
      },
    ],
  },
  health: { value: { ready: true, failing: [] } },
  process: {
    value: {
      program: 'outrigger',
      version: 'v0.1.0',
      startedAt: '2026-11-23T07:30:00.000Z',
      controllers: ['cloud-node-controller', 'service-lb-controller'],
      hanging: 0,
    },
  },
  clouds: { value: [{ provider: 'acme', service: 'compute', answers: true }] },
  nodes: { value: { total: 5, initialized: 5, waiting: [] } },
  deletions: { value: { held: 0, unproved: 0 } },
  services: { value: { total: 2, ready: 2, waiting: [] } },
  routes: { value: { removalsHeld: 0 } },
  orphans: { value: [] },
  budget: { value: [{ provider: 'acme', requests: 120, failed: 2, throttled: 0, inFlight: 1, waited: 0 }] },
  events: { value: { warnings: 0 } },
  webhooks: { value: [] },
};

test('a healthy cluster is one line, and a table for each section', () => {
  assert.equal(
    renderStatus(healthy, { colour: false }),
    `Healthy (https://api.example:6443, 2026-11-23T10:00:00.000Z)

LEADER
  LEASE                                  HOLDER          LEADS   RENEWED   SINCE   TRANSITIONS
  kube-system/cloud-controller-manager   control-1_abc   yes     2s        3d      2

WORKLOADS
  KIND        NAMESPACE     NAME                                 READY   UPDATED   VERSION
  DaemonSet   kube-system   outrigger-cloud-controller-manager   3/3     3         v0.1.0

HEALTH
  READY   FAILING
  yes     <none>

PROCESS
  PROGRAM     VERSION   AGE   CONTROLLERS
  Outrigger   v0.1.0    2h    cloud-node-controller,service-lb-controller

CLOUDS
  PROVIDER   SERVICE   ANSWERS   REASON   SINCE
  acme       compute   yes

NODES
  TOTAL   INITIALIZED   WAITING
  5       5             0

NODE DELETIONS
  HELD   UNPROVED
  0      0

SERVICES
  TOTAL   READY   WAITING
  2       2       0

ROUTES
  REMOVALS HELD
  0

ORPHANS
  <none>

BUDGET
  PROVIDER   REQUESTS   FAILED   THROTTLED   WAITED   IN FLIGHT
  acme       120        2        0           0        1

EVENTS
  WARNINGS
  0

WEBHOOKS
  <none>
`,
  );
});

test('a problem is followed by its remedy, and what is unknown is never shown as fine', () => {
  const text = renderStatus(
    {
      ...healthy,
      state: 'problems',
      problems: [
        {
          severity: 'warning',
          section: 'orphans',
          message: '2 resources are orphans.',
          remedy: 'Remove them.',
          commands: ['one', 'two'],
          runbook: 'OutriggerOrphans',
        },
      ],
      clouds: { notReported: 'another program' },
      health: { unknown: 'forbidden' },
    },
    { colour: false },
  );
  assert.match(text, /^Problems: 1 problem; 1 of the checks could not be made \(/u);
  assert.ok(
    text.includes(
      '1. WARNING 2 resources are orphans.\n   Remedy:  Remove them.\n   Run:     one\n            two\n   Runbook: OutriggerOrphans\n\nUNKNOWN\n  HEALTH: forbidden\n',
    ),
    text,
  );
  assert.match(text, /^HEALTH\n {2}<unknown>\n$/mu);
  assert.match(text, /^CLOUDS\n {2}<not reported>: another program\n$/mu);
});

test('of a long list the first are shown, and the others counted', () => {
  const waiting = Array.from({ length: 25 }, (_, i) => ({ name: `n-${i}`, waitedSeconds: 5 }));
  const text = renderStatus(
    { ...healthy, nodes: { value: { total: 25, initialized: 0, waiting } } },
    { colour: false },
  );
  assert.match(text, /^ {4}n-19 +<unknown>\n {4}… and 5 more: --output=json$/mu);
  assert.doesNotMatch(text, /n-20/u);
});

test('what others wrote into an Event or a condition tells the terminal nothing, and makes no line of its own', () => {
  const hostile = 'no quota\u001B]0;owned\u0007\u009B2J\nHealthy (https://api.example:6443)';
  const waiting = { namespace: 'shop', name: 'web', state: 'pending', failed: true, waitedSeconds: 90 } as const;
  const text = renderStatus(
    {
      ...healthy,
      state: 'problems',
      problems: [
        {
          severity: 'error',
          section: 'services',
          about: 'Service shop/web',
          message: hostile,
          remedy: `Ask: ${hostile}`,
          commands: [`kubectl describe '${hostile}'`],
        },
      ],
      services: { value: { total: 1, ready: 0, waiting: [{ ...waiting, message: hostile }] } },
      nodes: { unknown: hostile },
    },
    { colour: false },
  );
  assert.doesNotMatch(text, /[^\P{Cc}\n]/u);
  assert.doesNotMatch(text, /^Healthy/mu);
  assert.equal(text.match(/no quota \]0;owned 2J Healthy/gu)?.length, 5);
});

test('of webhooks the first expiry of all replicas is shown, and once why one does not tell', () => {
  const webhook: WebhookStatus = {
    kind: 'ValidatingWebhookConfiguration',
    name: 'w',
    webhook: 'service.outrigger.dev',
    failurePolicy: 'Ignore',
    authorityExpires: '2027-11-23T10:00:00.000Z',
    certificates: [
      ...['2027-02-01', '2027-01-01'].map((day) => ({
        replica: 'Pod kube-system/a',
        certificate: { value: { expires: `${day}T10:00:00.000Z`, trusted: true, named: true } },
      })),
      { replica: 'Pod kube-system/b', certificate: { unknown: 'refused' } },
    ],
  };
  const silent = { ...webhook, webhook: 'other', certificates: webhook.certificates.slice(2) };
  const webhooks = { value: [webhook, silent] };
  const text = renderStatus({ ...healthy, state: 'unknown', webhooks }, { colour: false });
  assert.match(text, /^Unknown: 1 of the checks could not be made /u);
  assert.match(text, /^UNKNOWN\n {2}WEBHOOKS: refused\n\n/mu);
  assert.match(text, /2027-11-23T10:00:00.000Z {3}2027-01-01T10:00:00.000Z$/mu);
  assert.match(text, /2027-11-23T10:00:00.000Z {3}<unknown>$/mu);
});
