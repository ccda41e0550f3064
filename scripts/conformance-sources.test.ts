import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { providerTests } from '@outrigger/conformance';
import { anchorsOf } from '@outrigger/create-provider';

const root = dirname(dirname(fileURLToPath(import.meta.url)));

/** `docs/x.md#heading`, or a file of the sources and what in it. */
function isThere(source: string): boolean {
  const [place = '', name] = source.split(' ');
  const [file = '', anchor] = place.split('#');
  if (!existsSync(join(root, file))) return false;
  const text = readFileSync(join(root, file), 'utf8');
  if (anchor !== undefined && !anchorsOf(text).has(anchor)) return false;
  return (name ?? '').split('.').every((word) => text.includes(word));
}

test('what each promise of the provider suite cites is there', () => {
  const missing = providerTests
    .filter(({ source }) => !isThere(source))
    .map(({ name, source }) => `${name}: ${source}`);
  assert.deepEqual(missing, []);
});
