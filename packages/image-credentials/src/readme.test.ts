import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { configReference } from './config.ts';
import { acmeCredentials } from './example.ts';
import { failureCodes } from './failure.ts';
import { systemClock } from './system-clock.ts';

const readme = readFileSync(new URL('../README.md', import.meta.url), 'utf8');

test('the example of the README is a file that compiles, and does what it says', async () => {
  const source = readFileSync(new URL('example.ts', import.meta.url), 'utf8');
  assert.equal(
    /```ts\n([\s\S]*?)```/u.exec(readme)?.[1],
    source.replace("'./index.ts'", "'@outrigger/image-credentials'"),
  );
  const said: string[] = [];
  const request =
    '{"kind":"CredentialProviderRequest","apiVersion":"credentialprovider.kubelet.k8s.io/v1","image":"a.example/b"}';
  const write = (text: string): unknown => said.push(text);
  const stdin = (async function* () {
    yield request;
  })();
  const code = await acmeCredentials('generic', {
    stdin,
    stdout: { write },
    stderr: { write },
    env: {},
    clock: systemClock,
    self: '',
    ended: () => Promise.resolve(),
  });
  assert.equal(code, 1);
  assert.match(said.join(''), /configuration: \/usr\/share\/acme\/image-credentials\.yaml cannot be read/u);
});

/** Between the lines of a table the formatter aligns nothing that a reader sees. */
const plain = (table: string): string =>
  table
    .replaceAll(/ *\| */gu, '|')
    .replaceAll(/-{3,}/gu, '---')
    .trim();

test('the README has every key of the configuration, as the program reads it', () => {
  assert.ok(plain(readme).includes(plain(configReference())), `the table is:\n${configReference()}`);
});

test('the README has every code of a failure', () => {
  const rows = Object.entries(failureCodes).map(
    ([code, { doNext, meaning }]) => `| \`${code}\` | ${meaning} | ${doNext} |`,
  );
  assert.ok(plain(readme).includes(plain(rows.join('\n'))), `the rows are:\n${rows.join('\n')}`);
});
