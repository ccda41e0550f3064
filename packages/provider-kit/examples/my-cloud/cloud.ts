/** My Cloud as a server on 127.0.0.1, which tests and `serve.ts` start in place of the real one. */
import type { Clock } from '@outrigger/cloud-provider';
import { startFakeCloud, type FakeTable, type RunningFakeCloud } from '@outrigger/provider-kit/fake';

export const TOKEN = 'token-of-my-cloud';

const text = { type: 'string' };
const texts = { type: 'array', items: text };
const labels = { type: 'object', additionalProperties: text };
const port = { type: 'integer', minimum: 1, maximum: 65_535 };

const table: FakeTable = {
  paging: { by: 'page', parameter: 'page', size: 10, first: 0, next: { member: 'next' } },
  resources: {
    accounts: { methods: ['read'], properties: { number: text } },
    servers: {
      methods: ['list', 'read'],
      properties: {
        name: text,
        status: { enum: ['active', 'stopped', 'error'] },
        plan: text,
        zone: text,
        region: text,
        privateIp: { format: 'ipv4' },
      },
      required: ['name', 'status', 'plan', 'zone', 'region', 'privateIp'],
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
        allow: texts,
        ports: { type: 'array', items: { type: 'object', properties: { port, nodePort: port } } },
        servers: texts,
        labels,
      },
      required: ['address', 'size'],
      merges: true,
      references: { address: 'addresses' },
      states: {
        member: 'state',
        making: 'creating',
        changing: 'updating',
        ready: 'active',
        deleting: 'deleting',
        failed: 'failed',
        locked: true,
      },
      takesMs: 2_000,
    },
    routes: {
      properties: { destination: text, server: text, labels },
      required: ['destination'],
      references: { server: { to: 'servers', missing: 'not-found', whenGone: 'dangles' } },
      shown: ({ server, ...route }, state) => (state.find('servers', String(server)) ? { ...route, server } : route),
    },
  },
};

export async function startMyCloud(clock: Clock): Promise<RunningFakeCloud> {
  const cloud = await startFakeCloud({ clock, table, accounts: { [TOKEN]: 'mine' } });
  cloud.resource('accounts').put({ id: 'me', number: 'account-1' });
  return cloud;
}

export function addServer(cloud: RunningFakeCloud, name: string): void {
  const server = { name, status: 'active', plan: 'm1', zone: 'z1', region: 'r1', privateIp: '10.1.0.1' };
  cloud.resource('servers').put({ id: `srv-${name}`, ...server });
}

/** What `--cloud-config` names. */
export function configOf({ endpoint }: RunningFakeCloud): string {
  return `endpoint: ${endpoint}\ntoken: ${TOKEN}\n`;
}
