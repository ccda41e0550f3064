import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { failurePlace } from './failure-place.ts';

test('of many modules, the one that was imported last is checked first: what is wrong ends the imports', async () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'failure-place-'));
  try {
    const files = ['earlier.mjs', 'last.mjs'].map((name) => path.join(folder, name));
    for (const file of files) writeFileSync(file, 'export const a = (;\n');
    const urls = files.map((file) => pathToFileURL(file).href);
    const error: unknown = await import(urls[1] ?? '').catch((thrown: unknown) => thrown);
    assert.equal(failurePlace(error, urls, 'file:///host.js'), ` (at ${files[1]}:1:19)`);
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test('what is open at the end of a file is told with its last line and column', async () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'failure-place-'));
  try {
    for (const [name, text, place] of [
      ['bracket.mjs', 'export default (', '1:17'],
      ['lines.mjs', 'export const a = {\n  b: [1,\n', '3:1'],
      ['template.mjs', 'export const a = `x', '1:20'],
      ['types.ts', 'export default (', '1:17'],
    ] as const) {
      const file = path.join(folder, name);
      writeFileSync(file, text);
      const url = pathToFileURL(file).href;
      const error: unknown = await import(url).catch((thrown: unknown) => thrown);
      assert.equal(failurePlace(error, [url], 'file:///host.js'), ` (at ${file}:${place})`);
    }
    // An address at the end of a message is no place in a file.
    const refused = new Error('connect 127.0.0.1:443');
    assert.match(
      failurePlace(refused, [], 'file:///host.js'),
      /^ \(at .*failure-place\.integration\.test\.ts:\d+:\d+/u,
    );
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test('a SyntaxError that the code of the provider threw is at its frames, and no module is checked for it', () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'failure-place-'));
  try {
    const file = path.join(folder, 'wrong.mjs');
    writeFileSync(file, 'export const a = (;\n');
    const place = failurePlace(thrownBy(readConfig), [pathToFileURL(file).href], 'file:///host.js');
    assert.match(
      place,
      /^ \(at JSON\.parse \(<anonymous>\), readConfig \(\/.*\/failure-place\.integration\.test\.ts:\d+:\d+\), /u,
    );
  } finally {
    rmSync(folder, { recursive: true });
  }
});

function readConfig(): unknown {
  return JSON.parse('{');
}

function thrownBy(work: () => unknown): unknown {
  try {
    return work();
  } catch (error) {
    return error;
  }
}
