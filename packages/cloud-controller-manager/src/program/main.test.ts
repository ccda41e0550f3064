import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { defaultCommands } from '../commands/commands.ts';
import { findCommand } from '../commands/find-command.ts';
import { controllerFlags } from '../controllers/controllers.ts';
import { flagSetOf } from '../options/program-options.ts';
import type { Environment } from './environment.ts';
import { programExamples } from './program-help.ts';
import { runMain, type Outcome } from './run-main.suite.ts';

const provider = { name: 'third', open: () => Promise.resolve({}), close: () => Promise.resolve() };

/** Runs the program as far as it comes without a network: its HOME is empty and it is in no pod. */
function run(...args: string[]): Promise<Outcome> {
  return runAs('cloud-controller-manager', ...args);
}

async function runAs(program: NonNullable<Environment['program']>, ...args: string[]): Promise<Outcome> {
  const home = await mkdtemp(join(tmpdir(), 'outrigger-main-'));
  try {
    await writeFile(join(home, 'cloud.conf'), 'x: 1');
    return await runMain(args, {
      program,
      builtInProviders: { third: () => Promise.resolve({ default: () => provider }) },
      env: { HOME: home },
      workingDirectory: home,
      columns: 100,
    });
  } finally {
    await rm(home, { recursive: true });
  }
}

test('--help and --version answer on stdout, whatever else is given', async () => {
  const help = await run('--help');
  assert.equal(help.code, 0);
  assert.match(help.stdout, /Leader election flags:/u);
  assert.match(help.stdout, /--concurrent-node-syncs int {2,}.*/u);
  assert.equal(help.stderr, '');
  assert.match(help.stdout, /^Usage:\n\n {2}cloud-controller-manager --cloud-provider=NAME \[flags\]\n/mu);
  assert.match(help.stdout, /^Built-in providers: third\n/mu);
  assert.match(help.stdout, /^ {2}service-lb-controller {2,}service, service-controller$/mu);
  assert.match(help.stdout, /^ {2}node-ipam-controller {2,}nodeipam \(off by default\)$/mu);
  assert.equal(help.stdout.match(/--min-resync-period/gu)?.length, 1);
  assert.match((await run('--version')).stdout, /^Outrigger v\d+\.\d+\.\d+\n$/u);
});

test('a word before any flag is a command; each has its own flags and help', async () => {
  assert.match((await run('version')).stdout, /^Outrigger v\d+\.\d+\.\d+\n$/u);
  const json = JSON.parse((await run('version', '--output=json')).stdout) as Record<string, string>;
  assert.equal(json['nodeVersion'], process.version);
  const help = await run('version', '--help');
  assert.equal(help.code, 0);
  assert.match(help.stdout, /^Usage:\n\n {2}outrigger version \[flags\]\n\n/mu);
  assert.match(help.stdout, /--output/u);
  for (const [args, line] of [
    [['version', '--outptu'], 'outrigger version: unknown flag --outptu; did you mean --output?'],
    [['version', 'now'], 'outrigger version: unexpected argument "now": flags only; usage: outrigger version [flags]'],
  ] as const) {
    assert.deepEqual(await run(...args), { code: 1, stdout: '', stderr: `${line}\n` });
  }
  assert.match((await run('--help')).stdout, /^ {2}version +Prints the version\.$/mu);
});

test('the help of a command has its own flags alone, and examples that it takes', async () => {
  const rbac = await run('rbac', '--help');
  assert.match(rbac.stdout, /Takes the flags of cloud-controller-manager too/u);
  assert.doesNotMatch(rbac.stdout, /--cluster-cidr/u);
  const shown = [
    ...defaultCommands.flatMap(({ examples = [] }) => examples),
    ...programExamples.map(([, line]) => line),
  ];
  assert.ok(shown.length > 8);
  for (const line of shown) {
    const [program = '', ...args] =
      line
        .replace(/^source <\((.*)\)$/u, '$1')
        .split(/ [|>] /u, 1)[0]
        ?.split(' ') ?? [];
    const name = program === 'outrigger' ? args.shift() : undefined;
    const set = name === undefined ? flagSetOf(controllerFlags()) : findCommand(name, defaultCommands).flagsOf?.({});
    assert.ok(set, line);
    set.parse(args);
  }
});

test('called as outrigger it lists the commands, and runs nothing without one', async () => {
  for (const args of [[], ['--help'], ['-h']]) {
    const { code, stderr, stdout } = await runAs('outrigger', ...args);
    assert.deepEqual([code, stderr], [0, '']);
    assert.match(stdout, /^ {2}version +Prints the version\.$/mu);
  }
  assert.match((await runAs('outrigger', '--version')).stdout, /^Outrigger v/u);
  const wrong = await runAs('outrigger', '--cloud-provider=third');
  assert.deepEqual([wrong.code, wrong.stderr], [1, 'outrigger: a command must come before its flags; see --help\n']);
});

test('a bad command line is one line on stderr, exit code 1, and nothing is touched', async () => {
  for (const [args, line] of [
    [['versio'], 'no command "versio"; did you mean version?'],
    [['conf'], 'no command "conf"; did you mean config?'],
    [['--leader-elct'], 'unknown flag --leader-elct; did you mean --leader-elect?'],
    [[], '--cloud-provider is not set: name a built-in provider, a package or a module'],
    [['--cloud-provider=third', '--controllers=*,nod'], /no controller "nod"/u],
    [['--cloud-provider=third', '--controllers=-cloud-node'], /turns every controller off/u],
    [['--cloud-provider=third', '--cloud-config=no.conf'], '--cloud-config=no.conf: there is no such file'],
  ] as const) {
    const { code, stderr, stdout } = await run(...args);
    assert.deepEqual([code, stdout], [1, '']);
    assert.match(stderr, /^cloud-controller-manager: [^\n]+\n$/u);
    if (typeof line === 'string') assert.equal(stderr, `cloud-controller-manager: ${line}\n`);
    else assert.match(stderr, line);
  }
});

test('an unknown provider, and a cluster that cannot be found, are told in the log', async () => {
  const unknown = await run('--cloud-provider=fourth');
  assert.equal(unknown.code, 1);
  assert.match(unknown.stderr, /"Cannot start" err="--cloud-provider=fourth: [^\n]*third/u);
  const homeless = await run('--cloud-provider=third', '--controllers=*,-route', '--cloud-config=cloud.conf');
  assert.equal(homeless.code, 1);
  assert.match(homeless.stderr, /"Cannot start" err=".*--kubeconfig/u);
});

test('the log begins with the version and the flags that are not at their defaults', async () => {
  const { stderr } = await run(
    '--cloud-provider=third',
    '--controllers=*,-route',
    '--master=https://127.0.0.1:1',
    // An address that no machine has: it ends there.
    '--bind-address=192.0.2.1',
    '-v',
    '1',
  );
  const [line = ''] = stderr.split('\n', 1);
  assert.match(
    line,
    /"Starting" version="v\d+\.\d+\.\d+.*" node="v\d+.*" flags="--bind-address=192\.0\.2\.1 --cloud-provider=third --controllers=\*,-route --master=https:.* --v=1"$/u,
  );
});

test('deprecated and odd combinations of the log flags work', async () => {
  const { stderr } = await run('--cloud-provider=fourth', '--logging-format=json', '--vmodule=main=4', '-v', '3');
  const line = JSON.parse(stderr) as Record<string, unknown>;
  assert.match(String(line['msg']), /Cannot start/u);
  assert.equal(line['caller'], 'main');
});
