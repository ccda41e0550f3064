/** What a guest may write there: it sets `guestinfo.…` of its own machine. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { gzipSync } from 'node:zlib';
import { staticAddresses } from './static-addresses.ts';

const BROKEN = 'its guestinfo.metadata cannot be decoded';
const TOO_LONG = 'its guestinfo.metadata has more than the 10000 characters that are read: shorten it';

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

test('whatever it holds costs little: it is not read, or each of its keys is looked at once', () => {
  const keys = (count: number): string => Array.from({ length: count }, (_, i) => `k${i}: 1\n`).join('');
  const packed = (text: string): string =>
    `network: ${gzipSync(text).toString('base64')}\nnetwork.encoding: gzip+base64\n`;
  const more = (count: number): string => Array.from({ length: count }, (_, i) => `b${i}: {addresses: *a}`).join(', ');
  for (const [metadata, expected] of [
    [keys(20_000), TOO_LONG],
    ['['.repeat(65_536), TOO_LONG],
    [packed('a: 1\n'.repeat(20_000)), BROKEN],
    [packed('['.repeat(65_536)), BROKEN],
    ['['.repeat(7_500), BROKEN],
    // Keys that are mappings.
    [`${'{['.repeat(256)}${']}'.repeat(256)}`, []],
    ['? '.repeat(256), []],
    [`network: {ethernets: {a: {addresses: &a [${'1.1.1.1,'.repeat(700)}]}, ${more(80)}}}`, ['1.1.1.1']],
    [`${keys(500)}network: {ethernets: {a: {addresses: [10.0.0.9/24]}}}\n`, ['10.0.0.9']],
  ] as const) {
    let found: unknown;
    const ms = costOf(() => (found = addressesIn(metadata)));
    // To show how two long lists differ takes minutes.
    assert.ok(isDeepStrictEqual(found, expected), `${String(found).slice(0, 100)} instead of ${String(expected)}`);
    assert.ok(ms < 250, `${ms} ms`);
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
