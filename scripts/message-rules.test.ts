import assert from 'node:assert/strict';
import { globSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { isMessage, problemsOf } from './message-rules.ts';
import { logMessagesOf, stringsOf } from './source-strings.ts';

const root = path.resolve(import.meta.dirname, '..');

/** What others have written, and is quoted word by word. */
const QUOTED = /^Documentation outlining all cloud provider features such as /u;

// The titles of conformance tests (`-tests.ts`) are names, by which results are compared.
const files = globSync(
  [
    '{packages/*,providers/*,distribution}/src/**/*.ts',
    'packages/ui/page/*.tsx',
    'packages/ui/page/*.ts',
    'scripts/run.ts',
    'scripts/run/**/*.ts',
  ],
  {
    cwd: root,
    exclude: (file) => /\.(?:test|suite)\.ts$|-tests\.ts$|^packages\/testing$|\/(?:generated|mutants)$/u.test(file),
  },
);

test('every message in the sources keeps to the rules of scripts/message-rules.ts', () => {
  let messages = 0;
  const found = files.flatMap((file) =>
    stringsOf(path.join(root, file))
      .filter(({ text }) => isMessage(text))
      .flatMap(({ line, text }) => {
        messages++;
        if (QUOTED.test(text)) return [];
        return problemsOf(text).map((problem) => `${file}:${line}: ${problem}: ${text.slice(0, 150)}`);
      }),
  );
  assert.deepEqual(found, []);
  assert.ok(messages > 1_500, `${messages} messages are found`);
});

test('a line of the log begins with a capital letter and has no full stop, as those of Kubernetes', () => {
  const messages = files.flatMap((file) => logMessagesOf(path.join(root, file)).map((text) => ({ file, text })));
  assert.deepEqual(
    messages.filter(({ text }) => !/^[A-Z…]/u.test(text) || text.endsWith('.')),
    [],
  );
  assert.ok(messages.length > 100, `${messages.length} messages are found`);
});

test('what is against the rules is found', () => {
  for (const text of [
    'A load balancer could not be brought to what it should be',
    'The cloud does not list it, which proves nothing',
    '10 minutes, of which a tenth is left to chance',
    'the URL is wrong and should be changed',
    'you should restart the program',
    'Please restart the program now',
    `a long message ${'of words '.repeat(40)}`,
  ])
    assert.equal(problemsOf(text).length, 1, text);
  for (const text of ['Failed to reconcile load balancer', 'correct the URL in the cloud config, a proxy or DNS'])
    assert.deepEqual(problemsOf(text), []);
});

test('a message is told from what programs read', () => {
  for (const text of ['the cloud does not answer', 'unknown flag …; write --…=false']) assert.ok(isMessage(text), text);
  for (const text of ['apiVersion: v1\nkind: Node', 'outrigger.dev/x', '{{ $value }} of the nodes', 'a b'])
    assert.ok(!isMessage(text), text);
});
