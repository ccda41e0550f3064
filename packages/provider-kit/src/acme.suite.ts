/** The REST cloud that examples/acme-cloud.ts is about: what is in use stays, what leads nowhere is refused. */
import type { Clock } from '@outrigger/cloud-provider';
import type { CloudFailure } from '@outrigger/conformance';
import { startFakeCloud, type FakeTable, type FakeThing, type RunningFakeCloud } from './fake/index.ts';

export const ACME_TOKEN = 'token-of-acme';

const text = { type: 'string' };
const labels = { type: 'object', additionalProperties: text };
const port = { type: 'integer', minimum: 1, maximum: 65_535 };

const table: FakeTable = {
  paging: { by: 'page', parameter: 'page', size: 10, first: 0, next: { member: 'next' } },
  resources: {
    servers: {
      methods: ['list', 'read'],
      properties: { name: text, status: { enum: ['active', 'stopped', 'error'] }, ip: { format: 'ipv4' }, zone: text },
      required: ['name', 'status', 'ip', 'zone'],
    },
    routes: {
      properties: { destination: text, server: text, labels },
      required: ['destination'],
      references: { server: { to: 'servers', missing: 'not-found', whenGone: 'dangles' } },
      shown: ({ server, ...route }, state) => (state.find('servers', String(server)) ? { ...route, server } : route),
    },
    addresses: {
      properties: { ip: { format: 'ipv4', readOnly: true }, labels },
      merges: true,
      made: (_address, n) => ({ ip: `203.0.113.${n}` }),
    },
    'load-balancers': {
      properties: {
        address: text,
        size: { enum: ['small', 'large'] },
        ports: {
          type: 'array',
          items: { type: 'object', properties: { port, nodePort: port }, required: ['port', 'nodePort'] },
        },
        targets: { type: 'array', items: text },
        labels,
      },
      required: ['address', 'size'],
      merges: true,
      references: { address: 'addresses' },
    },
    firewalls: {
      properties: { balancer: text, sources: { type: 'array', items: text }, labels },
      required: ['balancer', 'sources'],
      merges: true,
      references: { balancer: 'load-balancers' },
    },
    records: {
      properties: { name: text, target: { format: 'ipv4' }, labels },
      required: ['name', 'target'],
      merges: true,
    },
  },
};

export function startAcmeCloud(clock: Clock): Promise<RunningFakeCloud> {
  return startFakeCloud({ clock, table, accounts: { [ACME_TOKEN]: 'acme' } });
}

/** Each request is answered with this status; `empty`: lists are; `lost`: writes are done, and fail. `undefined`: all is well. */
export function failAcme({ faults }: RunningFakeCloud, how: CloudFailure | undefined): void {
  if (how === undefined) faults.set();
  else if (how.kind === 'empty') faults.set({ spoils: 'empty-list' });
  else if (how.kind === 'lost') faults.set({ when: ({ method }) => method !== 'GET', status: 500, takesEffect: true });
  else {
    const { retryAfterSeconds, status } = how;
    faults.set({ status, ...(retryAfterSeconds !== undefined && { retryAfterSeconds }) });
  }
}

export function acmeServer(name: string): FakeThing {
  return { id: `srv-${name}`, name, status: 'active', ip: '10.1.0.1', zone: 'r1a' };
}
