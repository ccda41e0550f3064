import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { FakeClock } from '@outrigger/testing';
import { EventCorrelator } from './event-correlator.ts';

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

function heapMb(): number {
  collectGarbage();
  return process.memoryUsage().heapUsed / 1e6;
}

test('long messages are compared, and not kept: a cloud may put a page and a request ID into each error', () => {
  const correlator = new EventCorrelator(new FakeClock(), { apiVersion: 'v1', kind: 'Namespace' });
  const before = heapMb();
  for (let n = 0; n < 1_000; n++) {
    const about = { apiVersion: 'v1', kind: 'Node', metadata: { name: `node-${n}`, uid: `${n}` } };
    for (let i = 0; i < 12; i++) {
      // Over a Buffer: a string of its own, as one off the wire.
      const message = Buffer.from(`request ${n} ${i} `.padEnd(8_192, 'x')).toString();
      const verdict = correlator.correlate(about, { type: 'Warning', reason: 'SyncFailed', message }, false);
      assert.ok(verdict.outcome === 'write');
      assert.equal(verdict.series.message.startsWith('(combined'), i >= 9);
      // What has been written is not needed any more.
      verdict.series.message = '';
    }
  }
  const grownMb = heapMb() - before;
  assert.ok(grownMb < 20, `12,000 messages of 8 KiB left ${Math.round(grownMb)} MB behind`);
  correlator.correlate({ kind: 'Node' }, { type: 'Normal', reason: 'Still', message: 'in use' }, false);
});
