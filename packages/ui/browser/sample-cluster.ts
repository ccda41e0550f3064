/** A cluster with something of everything, of any size: for screenshots, and for what the page has to bear. */
import { explanationOf } from '@outrigger/cloud-controller-manager';
import { systemClock } from '@outrigger/kube';
import { Feed } from '../src/feed.ts';
import { pageFiles } from '../src/page-files.ts';
import { startUiServer, type UiServer } from '../src/ui-server.ts';
import type { Line, NodeRow, NodeState, Part, ServiceRow } from '../src/view-types.ts';

const ZONES = ['eu-north-1a', 'eu-north-1b', 'eu-north-1c'];
const SECOND_MS = 1_000;
const HOUR_MS = 3_600_000;

export interface Sample extends AsyncDisposable {
  readonly feed: Feed;
  readonly ui: UiServer;
}

/** Serves what `fill` puts into the feed. */
export async function startSample(fill: (feed: Feed) => void): Promise<Sample> {
  const feed = new Feed();
  fill(feed);
  const ui = await startUiServer({
    clock: systemClock,
    feed,
    files: await pageFiles(),
    port: 0,
    explain: (kind, name) =>
      name === 'unknown'
        ? Promise.reject(new Error(`no running controller knows a ${kind} unknown (404)`))
        : Promise.resolve(explanation(kind, name)),
    plan: () =>
      Promise.resolve(
        [
          {
            controller: 'service-lb-controller',
            subject: { kind: 'Service', name: 'shop/checkout', uid: 'uid-checkout' } as const,
            since: new Date(systemClock.now() - 40 * SECOND_MS).toISOString(),
            actions: [{ kind: 'create-address', summary: 'create address' }],
          },
          {
            controller: 'cloud-node-controller',
            subject: { kind: 'Node', name: 'worker-0008', uid: 'uid-worker' } as const,
            since: new Date(systemClock.now() - 9 * SECOND_MS).toISOString(),
            actions: [
              {
                kind: 'patch-object',
                summary: 'set the provider ID to openstack:///worker-0008',
                changes: [
                  { field: 'spec.providerID', to: '"openstack:///worker-0008"' },
                  { field: 'metadata.labels[topology.kubernetes.io/zone]', from: '"old"', to: '"eu-north-1c"' },
                ],
              },
            ],
          },
          {
            controller: 'orphan-controller',
            subject: { kind: 'LoadBalancerPart', name: '0b6c1d4e', uid: '0b6c1d4e' } as const,
            since: new Date(systemClock.now() - 9 * SECOND_MS).toISOString(),
            actions: [{ kind: 'remove-orphan', summary: 'remove load-balancer lb-91' }],
          },
          {
            controller: 'persistent-volume-label-controller',
            subject: { kind: 'PersistentVolume', name: 'data-1', uid: 'uid-data-1' } as const,
            since: new Date(systemClock.now() - 9 * SECOND_MS).toISOString(),
            actions: [{ kind: 'patch-volume', summary: 'set its labels' }],
          },
          {
            controller: 'kubelet-serving-approver',
            subject: { kind: 'CertificateSigningRequest', name: 'csr-x7k2p', uid: 'uid-csr' } as const,
            since: new Date(systemClock.now() - 9 * SECOND_MS).toISOString(),
            actions: [{ kind: 'approve-request', summary: 'approve it' }],
          },
          {
            controller: 'service-lb-controller',
            subject: { kind: 'Service', name: 'shop/old (deleted)', uid: '77e1f0aa' } as const,
            since: new Date(systemClock.now() - 9 * SECOND_MS).toISOString(),
            actions: [{ kind: 'delete-address', summary: 'delete address address-9' }],
          },
        ].map((one) => ({ ...one, explanation: explanationOf(one.subject) })),
      ),
  });
  return { feed, ui, [Symbol.asyncDispose]: () => ui[Symbol.asyncDispose]() };
}

export function fillFacts(feed: Feed, now: number): void {
  feed.fact('server', 'https://10.0.0.10:6443');
  feed.fact('leader', { at: now, url: 'https://10.0.0.11:10258' });
  feed.fact('api', { at: now });
  feed.fact('dryRun', false);
  feed.fact('items', [
    { name: 'Leader', state: 'ok', text: 'control-1_5f0c (kube-system/cloud-controller-manager)' },
    { name: 'Version', state: 'ok', text: 'v0.1.0' },
    {
      name: 'Controllers',
      state: 'ok',
      text: 'cloud-node-controller, cloud-node-lifecycle-controller, node-route-controller, orphan-controller, service-lb-controller',
    },
    { name: 'Health', state: 'ok', text: 'ready' },
    { name: 'Cloud', state: 'ok', text: 'openstack: answers' },
    { name: 'Held back', state: 'error', text: '6 node deletions delayed, 0 need a decision' },
    { name: 'Webhooks', state: 'ok', text: '1' },
  ]);
  feed.fact('problems', [
    {
      severity: 'error',
      about: 'Service shop/checkout',
      message: 'It has no address for 4 minutes: the quota of load balancers is used up (40 of 40).',
      remedy: 'Delete load balancers that are not needed, or ask for a larger quota.',
      commands: ['outrigger explain service shop/checkout'],
      runbook: 'ServiceWithoutAddress',
    },
    {
      severity: 'warning',
      message:
        'The deletion of 6 nodes is held: so many machines of eu-north-1c seem to be gone that a longer proof is needed.',
      commands: ['outrigger explain node worker-0003'],
      runbook: 'NodeDeletionsHeld',
    },
  ]);
  const samples = Array.from({ length: 90 }, (_, i) => ({
    at: now - (90 - i) * 5 * SECOND_MS,
    perMinute: Math.round(60 + 40 * Math.sin(i / 7) + (i > 60 && i < 70 ? 120 : 0) + ((i * 37) % 17)),
    throttledPerMinute: i > 63 && i < 68 ? 24 : 0,
  }));
  feed.fact('budget', samples);
}

export function fillNodes(feed: Feed, count: number, now: number): void {
  for (let i = 1; i <= count; i++) feed.set('nodes', nodeOf(i, now));
}

export function nodeOf(i: number, now: number, created: number = now - ((i * 7_919) % 400) * HOUR_MS): NodeRow {
  const name = `worker-${String(i).padStart(4, '0')}`;
  const zone = ZONES[i % ZONES.length] ?? '';
  const state: NodeState = i % 40 === 3 ? 'held' : i % 57 === 8 ? 'waiting' : i % 91 === 5 ? 'not-ready' : 'ready';
  const row: NodeRow = {
    name,
    zone,
    state,
    type: 'm2.large',
    address: `10.${Math.floor(i / 65_536)}.${Math.floor(i / 256) % 256}.${i % 256}`,
    providerID: `openstack:///${name}`,
    podCIDRs: `10.244.${i % 256}.0/24`,
    created: state === 'waiting' ? now - 9 * SECOND_MS : created,
    lines: linesOf(state, now),
  };
  return state === 'ready' ? { ...row, tookMs: 300 + ((i * 131) % 900) } : row;
}

function linesOf(state: NodeState, now: number): readonly Line[] {
  const line = (controller: string, kind: string, text: string, inMs?: number): readonly Line[] => [
    {
      controller,
      state: kind,
      planned: [{ text, ...(inMs !== undefined && { at: Math.round((now + inMs) / SECOND_MS) }) }],
    },
  ];
  if (state === 'held')
    return line(
      'cloud-node-lifecycle-controller',
      'hold',
      'Its deletion is held back: many others of its zone are gone too.',
      240 * SECOND_MS,
    );
  if (state === 'waiting')
    return line('cloud-node-controller', 'look-up', 'Look its machine up in the cloud.', 2 * SECOND_MS);
  if (state === 'not-ready')
    return line('cloud-node-lifecycle-controller', 'wait', 'Nothing: the node is not Ready, but its machine runs.');
  return [];
}

const PARTS = ['address', 'load-balancer', 'listener', 'pool', 'firewall', 'dns'];

export function fillServices(feed: Feed, count: number, now: number): void {
  const names = [
    'shop/checkout',
    'shop/web',
    'shop/api',
    'mail/smtp',
    'mail/imap',
    'media/stream',
    'games/lobby',
    'auth/login',
  ];
  for (let i = 0; i < count; i++) {
    const name = names[i] ?? `team-${i % 40}/service-${i}`;
    feed.set('services', i === 0 ? failing(name, now) : i % 29 === 4 ? waiting(name, i, now) : serving(name, i, now));
  }
}

function serving(name: string, i: number, now: number): ServiceRow {
  const parts = PARTS.map((kind, n) => ({ kind, id: `${kind}-${i * 7 + n}`, state: 'ready' }));
  return serviceOf(name, {
    state: 'ready',
    addresses: `203.0.113.${i % 250}`,
    parts,
    lines: [],
    created: now - i * HOUR_MS,
  });
}

function waiting(name: string, i: number, now: number): ServiceRow {
  const parts: readonly Part[] = PARTS.slice(0, 3).map((kind, n) => ({
    kind,
    id: `${kind}-${i * 7 + n}`,
    state: n === 1 ? 'pending' : 'ready',
  }));
  const planned = [{ text: 'Look again: a change is in progress in the cloud.', at: Math.round(now / SECOND_MS) + 2 }];
  const lines = [{ controller: 'service-lb-controller', state: 'bring', planned }];
  return serviceOf(name, { state: 'waiting', addresses: '', parts, lines, created: now - 12 * SECOND_MS });
}

function failing(name: string, now: number): ServiceRow {
  const planned = [
    { text: 'Create load-balancer.' },
    {
      text: 'The last attempt failed: the quota of load balancers is used up (40 of 40).',
      at: Math.round(now / SECOND_MS) - 21,
    },
    { text: 'Retry.', at: Math.round(now / SECOND_MS) + 39 },
  ];
  const lines = [{ controller: 'service-lb-controller', state: 'bring', planned }];
  return serviceOf(name, {
    state: 'failing',
    addresses: '',
    parts: [{ kind: 'address', id: 'address-1', state: 'ready' }],
    lines,
    created: now - 240 * SECOND_MS,
  });
}

function serviceOf(
  name: string,
  row: Pick<ServiceRow, 'addresses' | 'created' | 'lines' | 'parts' | 'state'>,
): ServiceRow {
  return { name, ports: '443/TCP', loadBalancerClass: '', ...row };
}

export function fillRoutes(feed: Feed, count: number): void {
  for (let i = 1; i <= count; i++) {
    const destination = `10.244.${i % 256}.0/24`;
    const to = `worker-${String(i).padStart(4, '0')}`;
    feed.set('routes', {
      name: `node-route-controller ${destination} ${to}`,
      destination,
      state: i === 2 ? 'foreign' : 'owned',
      to,
      lines: [],
    });
  }
}

export function fillOrphans(feed: Feed): void {
  const lines = [
    {
      controller: 'orphan-controller',
      state: 'orphan',
      planned: [{ text: 'Only reported, because of --orphan-policy.' }],
    },
  ];
  const parts = [
    { kind: 'load-balancer', id: 'lb-91', state: 'ready' },
    { kind: 'address', id: 'address-92', state: 'ready' },
  ];
  feed.set('orphans', { name: '0b6c1d4e', kind: 'service', parts, lines });
}

function explanation(kind: string, name: string): string {
  return `${kind} ${name}, at 2026-11-23T09:14:02.118Z

service-lb-controller
  The Service is of type LoadBalancer, without a class.
  This provider serves it.
  Its status has no address.
  The cloud has the address address-1: ready. (3s ago)
  The last attempt failed: the quota of load balancers is used up (40 of 40). (21s ago)
  Planned:
    - Create load-balancer.
    - Retry. (in 39s or later)

Last applied
  2026-11-23T09:13:41.020Z  service-lb-controller: create load-balancer (failed: the quota of load balancers is used up)

Last requests to the cloud
  2026-11-23T09:13:40.911Z  POST /lbaas/loadbalancers: quota after 98 ms
`;
}
