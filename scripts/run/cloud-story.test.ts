import assert from 'node:assert/strict';
import { test } from 'node:test';
import { tellExchange, type Exchange, type Names, type Step } from './cloud-story.ts';

const names: Names = {
  serviceOf: (uid) => (uid === 'u' ? 'web' : uid),
  partOf: (id) => (id === 'dns-1' ? { kind: 'dns', tags: { uid: 'u' }, attributes: { name: 'web.test' } } : undefined),
  nodeOf: (id) => id.replace('i-', 'node-'),
  routeOf: (id) => (id === 'r-1' ? { nodeName: 'node-1', destination: '10.244.0.0/24' } : undefined),
};

function tell(operation: string, exchange: Partial<Exchange>): readonly Step[] {
  const [method = '', path = ''] = operation.split(' ');
  return tellExchange({ method, path, sent: undefined, status: 200, answer: undefined, ...exchange }, names);
}

test('a look-up tells what it found, and that what it lacks is not proved to be gone', () => {
  const sent = { ids: ['i-1', 'i-3'], names: [] };
  assert.deepEqual(tell('POST /instances:batchGet', { sent, answer: { instances: [{ id: 'i-1', name: 'node-1' }] } }), [
    { about: 'node-1', text: 'instance found in the cloud, 1 node in one look-up' },
    { about: 'node-3', text: 'not listed by the cloud (inconclusive)' },
  ]);
});

test('a direct read is told when the instance is gone, and only then', () => {
  assert.deepEqual(tell('GET /instances/i-3', { status: 404 }), [
    { about: 'node-3', text: 'read by its own ID, the cloud says: there is no i-3' },
  ]);
  assert.deepEqual(tell('GET /instances/i-3', { answer: { id: 'i-3' } }), []);
  assert.deepEqual(tell('GET /instances/i-3', { status: 503 }), []);
});

test('routes are told when they were made, each by its own result, and when they are gone', () => {
  const routes = ['node-1', 'node-2'].map((nodeName, index) => ({ nodeName, destination: `10.244.${index}.0/24` }));
  assert.deepEqual(
    tell('POST /routes:batchCreate', {
      sent: { routes },
      answer: { results: [{ kind: 'done' }, { kind: 'failed', code: 'quota', message: 'full' }] },
    }),
    [{ about: 'node-1', text: 'route 10.244.0.0/24 made in the cloud' }],
  );
  assert.deepEqual(tell('POST /routes:batchDelete', { sent: { ids: ['r-1'] }, answer: { results: [] } }), [
    { about: 'node-1', text: 'route 10.244.0.0/24 deleted in the cloud' },
  ]);
});

test('each kind of part of a load balancer has its sentence', () => {
  const ports = [{ port: 80, protocol: 'TCP' }];
  const made = (kind: string, attributes: object): string | undefined =>
    tell('POST /parts', { status: 201, answer: { kind, tags: { uid: 'u' }, attributes } })[0]?.text;
  assert.equal(made('address', { ip: '203.0.113.7' }), 'address 203.0.113.7 made');
  assert.equal(
    made('load-balancer', { ports, backEnds: ['memory://r/i-1', 'memory://r/i-2'] }),
    'load balancer 80/TCP to i-1, i-2 made',
  );
  assert.equal(made('firewall', { ports }), 'firewall for 80/TCP made');
  assert.equal(made('dns', { name: 'web.test' }), 'DNS record web.test made');
  assert.deepEqual(
    tell('PUT /parts/firewall-1', { answer: { kind: 'firewall', tags: { uid: 'u' }, attributes: { ports } } }),
    [{ about: 'web', text: 'firewall for 80/TCP changed' }],
  );
  assert.deepEqual(tell('DELETE /parts/dns-1', { answer: {} }), [
    { about: 'web', text: 'DNS record web.test deleted' },
  ]);
  assert.deepEqual(tell('POST /parts', { status: 403, answer: { code: 'quota' } }), []);
});
