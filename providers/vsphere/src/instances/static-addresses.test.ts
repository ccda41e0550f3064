/** What a guest may write there: it sets `guestinfo.…` of its own machine. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { staticAddresses } from './static-addresses.ts';

const BROKEN = 'its guestinfo.metadata cannot be decoded';

const addressesIn = (metadata: string): readonly string[] | string =>
  staticAddresses({
    'guestinfo.metadata': Buffer.from(metadata).toString('base64'),
    'guestinfo.metadata.encoding': 'base64',
  });

/** In milliseconds of this thread's CPU. */
function costOf(work: () => unknown): number {
  const before = process.threadCpuUsage();
  work();
  const { user, system } = process.threadCpuUsage(before);
  return (user + system) / 1000;
}

test('a large text costs little: it is not read, or each of its keys is looked at once', () => {
  const keys = (count: number): string => Array.from({ length: count }, (_, i) => `k${i}: 1\n`).join('');
  const packed = `network: ${gzipSync(keys(20_000)).toString('base64')}\nnetwork.encoding: gzip+base64\n`;
  for (const [metadata, expected] of [
    [keys(20_000), BROKEN],
    [packed, BROKEN],
    [`${keys(5_000)}network: {ethernets: {a: {addresses: [10.0.0.9/24]}}}\n`, ['10.0.0.9']],
  ] as const) {
    let found: unknown;
    const ms = costOf(() => (found = addressesIn(metadata)));
    assert.deepEqual(found, expected);
    assert.ok(ms < 1_000, `${ms} ms`);
  }
});

test('nothing of it goes to the standard error output', async () => {
  const warnings: unknown[] = [];
  const note = (warning: unknown): void => void warnings.push(warning);
  process.on('warning', note);
  try {
    assert.deepEqual(addressesIn('secret: !!my-password x\n'), []);
    await setImmediate();
    assert.deepEqual(warnings, []);
  } finally {
    process.off('warning', note);
  }
});
