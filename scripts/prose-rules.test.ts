import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';

const root = path.resolve(import.meta.dirname, '..');

/** Records of decisions and of measurements, generated pages, and the threat model, which is not checked yet. */
const EXCLUDED = /^docs\/(?:adr\/|(?:benchmarks|ci-budget|advisories)\.md$)|\/threat-model[^/]*\.md$/u;

const files = globSync(['README.md', 'docs/**/*.md', 'providers/*/docs/**/*.md', 'packages/*/README.md'], {
  cwd: root,
}).filter((file) => !EXCLUDED.test(file));

/** Odd in such a page wherever they occur, and what is written instead. */
const ODD = new Map([
  [/\bsomebody\b/iu, 'another program, client, user …'],
  [/\bwhoever\b/iu, 'the program, client or user that'],
  [/\banew\b/iu, 'again'],
  [/\bmend(?:s|ed|ing)?\b/iu, 'fix, repair, correct'],
  [/\bleft\s+alone\b/iu, 'ignored, not changed'],
  [/\bgone\s+for\s+good\b/iu, 'permanently removed'],
]);

/** Line breaks stay, so that lines can be counted. */
function proseOf(text: string): string {
  const blank = (code: string): string => code.replaceAll(/[^\n]/gu, ' ');
  return text.replaceAll(/^ *(```+)[\s\S]*?^ *\1/gmu, blank).replaceAll(/(`+)[^`]+\1/gu, blank);
}

function problemsOf(text: string): string[] {
  const prose = proseOf(text);
  return [...ODD].flatMap(([odd, instead]) =>
    [...prose.matchAll(new RegExp(odd, 'giu'))].map(
      ({ 0: found, index }) => `${prose.slice(0, index).split('\n').length}: "${found}": ${instead}`,
    ),
  );
}

test('the pages are written in plain words', () => {
  const found = files.flatMap((file) =>
    problemsOf(readFileSync(path.join(root, file), 'utf8')).map((problem) => `${file}:${problem}`),
  );
  assert.deepEqual(found, []);
  assert.ok(files.length > 100, `${files.length} pages are found`);
});

test('an odd word is found in prose, also over two lines, and not in code', () => {
  assert.deepEqual(problemsOf('One\n\nis left\nalone.'), ['3: "left\nalone": ignored, not changed']);
  for (const word of ['Somebody', 'whoever', 'anew', 'mended', 'gone for good'])
    assert.equal(problemsOf(`it is ${word}.`).length, 1, word);
  assert.deepEqual(problemsOf('`somebody` and\n```sh\necho whoever\n```\nthe recommended end'), []);
});
