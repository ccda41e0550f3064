/**
 * The cloud in memory, over HTTP on 127.0.0.1: what the tests and `make fake` run against. It is a table of what the cloud has: a request or an
 * answer that does not fit fails the test. Make it as strict as the cloud itself.
 */
import type { Clock } from '@outrigger/cloud-provider';
import { startFakeCloud, type FakeTable, type RunningFakeCloud } from '@outrigger/provider-kit/fake';

const TOKEN = 'token-of-the-fake';

const text = { type: 'string' };
// <load-balancers>
const port = { type: 'integer', minimum: 1, maximum: 65_535 };
// </load-balancers>
/** Whose it is. */
const labels = { type: 'object', additionalProperties: text };

const table: FakeTable = {
  paging: { by: 'page', parameter: 'page', size: 50, first: 0, next: { member: 'next' } },
  errors: { reasons: { quota: { code: 'quota_exceeded' } } },
  resources: {
    servers: {
      methods: ['list', 'read'],
      properties: {
        name: text,
        status: { enum: ['active', 'stopped', 'error'] },
        ip: { format: 'ipv4' },
        zone: text,
        size: text,
        labels,
      },
      required: ['name', 'status', 'ip', 'zone', 'size'],
    },
    // <routes>
    routes: {
      properties: { destination: text, server: text, labels },
      required: ['destination'],
      references: { server: { to: 'servers', missing: 'not-found', whenGone: 'dangles' } },
      // A route to a machine that is gone leads nowhere.
      shown: ({ server, ...route }, cloud) => (cloud.find('servers', String(server)) ? { ...route, server } : route),
    },
    // </routes>
    // <load-balancers>
    addresses: {
      properties: { ip: { format: 'ipv4', readOnly: true }, labels },
      merges: true,
      made: (_address, n) => ({ ip: `203.0.113.${n % 256}` }),
    },
    'load-balancers': {
      properties: {
        address: text,
        size: { enum: ['small', 'large'] },
        ports: {
          type: 'array',
          items: {
            type: 'object',
            properties: { port, nodePort: port, protocol: { enum: ['TCP', 'UDP'] } },
            required: ['port', 'protocol'],
          },
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
    // </load-balancers>
    // <volumes>
    volumes: { methods: ['list', 'read'], properties: { zone: text }, required: ['zone'] },
    // </volumes>
  },
};

export function startFake(clock: Clock): Promise<RunningFakeCloud> {
  return startFakeCloud({ clock, table, accounts: { [TOKEN]: 'the only one' } });
}

/** The cloud config that leads to a cloud at this address. */
export function configOf(endpoint: string): { readonly fileName: string; readonly text: string } {
  return { fileName: 'cloud.yaml', text: `endpoint: ${endpoint}\ntoken: ${TOKEN}\n` };
}

/** A machine whose kubelet registers a node of this name. */
export function addServer(cloud: RunningFakeCloud, name: string): void {
  const servers = cloud.resource('servers');
  const ip = `10.1.0.${servers.size + 1}`;
  servers.put({ id: `srv-${name}`, name, status: 'active', size: 'm1', zone: 'north-1a', ip });
}
