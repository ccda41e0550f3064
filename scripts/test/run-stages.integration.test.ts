import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { pathToFileURL } from 'node:url';

const module = (name: string): string => JSON.stringify(pathToFileURL(join(import.meta.dirname, name)).href);

/** What a run of these stages prints, with its sum as the last line. `sh`: a stage that is a shell script. */
function printed(t: TestContext, stages: string): { readonly stdout: string; readonly stderr: string } {
  const directory = mkdtempSync(join(tmpdir(), 'outrigger-stages-'));
  t.after(() => rmSync(directory, { recursive: true }));
  const program = `
    import { check } from ${module('stage.ts')};
    import { runStages } from ${module('run-stages.ts')};
    const sh = (name, lane, script, more = {}) => ({ ...check(name, 'sh', ['-c', script], { lane }), ...more });
    const waitFor = (file) => 'n=0; until [ -e ' + file + ' ] || [ $n -gt 3000 ]; do n=$((n+1)); sleep 0.1; done; ';
    console.log(JSON.stringify(await runStages([${stages}])));`;
  const { stderr, stdout } = spawnSync(process.execPath, ['--input-type=module', '--eval', program], {
    cwd: directory,
    encoding: 'utf8',
  });
  return { stdout: stdout.replaceAll(/\d+\.\d s/gu, 'N s').replaceAll(/ +/gu, ' '), stderr };
}

test('lanes run beside each other, and what a stage prints stands together', (t) => {
  const { stdout } = printed(
    t,
    `sh('first', 'checks', 'echo one; touch begun;' + waitFor('ended') + 'echo two >&2; [ -e ended ]'),
     sh('second', 'labs', waitFor('begun') + 'echo three; [ -e begun ]'),
     sh('third', 'labs', 'echo four; touch ended; exit 3')`,
  );
  assert.match(stdout, /\n== first\none\ntwo\nfirst N s 1 passed, 0 failed\n/u);
  assert.match(
    stdout,
    /\n== second\nthree\nsecond N s 1 passed, 0 failed\n[^=]*\n== third\nfour\nthird N s 0 passed, 1 failed\n/u,
  );
  assert.match(
    stdout,
    /\nfirst N s 1 passed, 0 failed\nsecond N s 1 passed, 0 failed\nthird N s 0 passed, 1 failed\nall N s\n\n/u,
  );
  assert.match(stdout, /\{"passed":2,"failed":1,"skipped":0\}\n$/u);
});

test('a stage begins after those that it names, whatever their lane and end; one that is not part of the run is not waited for', (t) => {
  const { stdout } = printed(
    t,
    `sh('uses', 'checks', '[ -e made ]', { after: ['makes', 'elsewhere'] }),
     sh('makes', 'builds', 'sleep 0.3; touch made; false')`,
  );
  assert.match(stdout, /\nuses N s 1 passed, 0 failed\nmakes N s 0 passed, 1 failed\nall /u);
});

test('stages of one lane follow each other', (t) => {
  const { stdout } = printed(
    t,
    `sh('one', 'checks', 'sleep 0.3; touch one'), sh('two', 'checks', '[ -e one ] && echo last')`,
  );
  assert.match(stdout, /^\n== one\none N s 1 passed, 0 failed\n\n== two\nlast\ntwo N s 1 passed, 0 failed\n\none N s/u);
});

test('a stage that throws has failed, with the reason, and the others go on', (t) => {
  const { stdout } = printed(
    t,
    `{ name: 'throws', lane: 'checks', always: true, run: () => Promise.reject(new Error('no such program')) },
     sh('next', 'checks', 'true'),
     sh('other', 'labs', 'true')`,
  );
  assert.match(stdout, /\n== throws\nthrows: Error: no such program\n/u);
  assert.match(stdout, /\{"passed":2,"failed":1,"skipped":0\}\n$/u);
});

test('tests that failed are printed once more next to the sum, each with its stage, a long one in part', (t) => {
  const failures = `['FAIL short\\n     a.test.ts:1\\n', 'FAIL long\\n     b.test.ts:2\\n     ' + 'x'.repeat(1000) + '\\n     line'.repeat(100)]`;
  const { stdout } = printed(
    t,
    `{ name: 'tests', lane: 'checks', always: true, run: async () => ({ passed: 1, failed: 2, skipped: 0, failures: ${failures} }) },
     sh('other', 'labs', 'sleep 0.1')`,
  );
  assert.match(
    stdout,
    /\n== failed\ntests: FAIL short\n a\.test\.ts:1\ntests: FAIL long\n b\.test\.ts:2\n x{295}…(?:\n line){9}\n …\n\ntests N s 1 passed, 2 failed\nother N s 1 passed/u,
  );
  assert.match(stdout, /\nall N s\n\ntests: FAIL short a\.test\.ts:1\ntests: FAIL long b\.test\.ts:2\n\{/u);
});

test('a run that is ended prints what its stages have printed until then', (t) => {
  const { stdout } = printed(
    t,
    // Which end with the run, and not of themselves before.
    `sh('first', 'checks', 'echo one; touch begun; sleep 60; echo never'),
     sh('ends', 'labs', waitFor('begun') + 'kill -TERM $PPID; sleep 60')`,
  );
  assert.match(stdout, /\n== first\none\n/u);
  assert.doesNotMatch(stdout, /never|\nall /u);
});

test('a check gives way to tests, with what it starts', (t) => {
  // The program begins before its priority is lowered.
  const lowered = 'n=0; until [ "$(nice)" = 19 ] || [ $n -gt 300 ]; do n=$((n+1)); sleep 0.1; done; ';
  const group = '[ -e /proc/self/autogroup ] && cut -d " " -f 2- /proc/self/autogroup; true';
  const { stdout } = printed(t, `sh('gives', 'checks', ${JSON.stringify(`${lowered} nice; sleep 0.1; ${group}`)})`);
  assert.match(stdout, /\n19\n/u);
  if (existsSync('/proc/self/autogroup')) assert.match(stdout, /\n19\nnice 19\n/u);
});
