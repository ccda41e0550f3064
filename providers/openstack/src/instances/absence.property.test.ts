import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CloudError, type CloudErrorCode, type NodeRef } from '@outrigger/cloud-provider';
import { silentLogger } from '@outrigger/kube';
import * as fc from 'fast-check';
import { callOf } from './scripted-client.ts';
import { scriptedInstances } from './scripted-instances.suite.ts';
import type { Server } from './server.ts';

const COUNT = 12;
const idAt = (at: number): string => `00000000-0000-4000-8000-${String(at).padStart(12, '0')}`;
const ids = Array.from({ length: COUNT }, (_, at) => idAt(at));
const server = (id: string): Server => ({ id, status: 'ACTIVE', name: `node-${id}`, flavor: { original_name: 'm1' } });

/** What one request meets. `cell`: nova cannot reach the cell of the servers with an odd number. */
type Fault = 'none' | 'cell' | 'empty' | 'half' | 'other' | 'twice' | CloudErrorCode;
const faults: readonly Fault[] = [
  ...(['none', 'cell', 'empty', 'half', 'other', 'twice'] as const),
  ...(['unavailable', 'timeout', 'throttled', 'forbidden', 'unauthenticated', 'conflict', 'invalid'] as const),
];

const isOdd = (id: string): boolean => Number(id.slice(-12)) % 2 === 1;

function listed(fault: Fault, isPaged: boolean, items: readonly Server[]): readonly Server[] {
  if (fault === 'empty') return [];
  if (fault === 'half') return items.slice(items.length / 2);
  if (fault === 'twice') return [...items, ...items];
  if (fault !== 'cell') return items;
  // With filters and pages they are left out, else they are UNKNOWN.
  if (isPaged) return items.filter(({ id }) => !isOdd(id));
  return items.map((one) => (isOdd(one.id) ? { id: one.id, status: 'UNKNOWN' } : one));
}

function read(fault: Fault, found: Server | undefined): unknown {
  if (fault === 'other') return server('stranger');
  if (fault === 'cell' && found && isOdd(found.id)) return { id: found.id, status: 'UNKNOWN' };
  return found;
}

test('property: no mix of faults makes a live server absent, in a look-up or a read', async () => {
  const step = fc.record({
    asked: fc.subarray(ids, { minLength: 1 }),
    named: fc.subarray(ids),
    faults: fc.array(fc.constantFrom(...faults), { minLength: 1, maxLength: 20 }),
    paged: fc.boolean(),
    need: fc.constantFrom('state', 'metadata'),
  });
  await fc.assert(
    fc.asyncProperty(fc.subarray(ids), fc.array(step, { minLength: 1, maxLength: 4 }), async (live, steps) => {
      const { client, instances } = scriptedInstances();
      client.servers = live.map(server);
      for (const { asked, named, faults: met, paged, need } of steps) {
        let at = 0;
        const next = (): Fault => {
          const fault = met[at++ % met.length] ?? 'none';
          if (!['none', 'cell', 'empty', 'half', 'other', 'twice'].includes(fault)) {
            throw new CloudError(fault as CloudErrorCode, fault);
          }
          return fault;
        };
        client.onRead = (_id, found) => read(next(), found);
        client.onList = ({ collection }, items) =>
          collection === 'servers' ? listed(next(), paged, items as readonly Server[]) : (next(), items);
        const nodes = asked.map((id): NodeRef => {
          const name = `node-${id}`;
          const providerID = named.includes(id) ? undefined : `openstack:///${id}`;
          return { name, uid: name, providerID, labels: {}, annotations: {} };
        });
        const answers = await instances.lookUp(nodes, need, callOf(silentLogger)).catch(() => []);
        const reads = await Promise.allSettled(nodes.map((node) => instances.read(node, need, callOf(silentLogger))));
        const all = [answers, reads.map((one) => (one.status === 'fulfilled' ? one.value : undefined))];
        for (const answer of all.flatMap((list) => list.map((one, index) => ({ one, id: asked[index]! })))) {
          if (answer.one?.result.kind !== 'absent') continue;
          assert.ok(!live.includes(answer.id), `${answer.id} lives, and was said to be absent`);
          assert.ok(!named.includes(answer.id), `${answer.id} has no provider ID to be absent by`);
        }
      }
    }),
  );
});

test('a cell that is lost in the middle makes nothing absent, and its servers are back with it', async () => {
  const all = Array.from({ length: 400 }, (_, at) => server(idAt(at)));
  const nodes = all.map(({ id, name = '' }) => ({
    name,
    uid: id,
    providerID: `openstack:///${id}`,
    labels: {},
    annotations: {},
  }));
  for (const paged of [true, false]) {
    const { client, instances } = scriptedInstances();
    client.servers = all;
    const kinds = async (): Promise<Record<string, number>> => {
      const answers = await instances.lookUp(nodes, 'state', callOf(silentLogger));
      const groups = Object.groupBy(answers, ({ result }) => result.kind);
      return Object.fromEntries(Object.entries(groups).map(([kind, list]) => [kind, list.length]));
    };
    assert.deepEqual(await kinds(), { found: 400 });
    client.onList = (_request, items) => listed('cell', paged, items as readonly Server[]);
    client.onRead = (_id, found) => read('cell', found);
    assert.deepEqual(await kinds(), paged ? { found: 200, failed: 20, missing: 180 } : { found: 200, failed: 200 });
    const one = await instances.read(nodes[1]!, 'state', callOf(silentLogger));
    assert.equal(one.result.kind, 'failed');
    client.onList = (_request, items) => items;
    client.onRead = (_id, found) => found;
    assert.deepEqual(await kinds(), { found: 400 });
  }
});
