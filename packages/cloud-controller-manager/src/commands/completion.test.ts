/** The script for bash, as bash runs it. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { test } from 'node:test';
import { runMain, type Outcome } from '../program/run-main.suite.ts';

function script(...words: string[]): Promise<Outcome> {
  return runMain(['completion', ...words]);
}

/** What bash offers for each command line, as it splits it: `=` is a word of its own. */
function complete(source: string, lines: readonly string[]): readonly string[] {
  const calls = lines.map((line) => {
    const words = line.split(/(=)| /u).filter((word) => word !== undefined && word !== '');
    if (line.endsWith(' ')) words.push('');
    const list = words.map((word) => `'${word}'`).join(' ');
    return `COMP_WORDS=(${list}); COMP_CWORD=${words.length - 1}; COMPREPLY=(); _outrigger; echo "\${COMPREPLY[*]}"`;
  });
  const { status, stderr, stdout } = spawnSync('bash', ['--norc', '-c', [source, ...calls].join('\n')], {
    encoding: 'utf8',
  });
  assert.deepEqual([status, stderr], [0, '']);
  return stdout.split('\n').slice(0, -1);
}

test('bash completes commands, words, flags and the values that are few', async () => {
  const { stdout } = await script('bash');
  const lines = {
    'outrigger ex': 'explain',
    'outrigger explain ': 'node service route persistentvolume certificatesigningrequest',
    'outrigger explain s': 'service',
    'outrigger explain service ': '',
    'outrigger explain --insec': '--insecure-skip-tls-verify',
    'outrigger explain --outp': '--output=',
    'outrigger explain --output=': 'text json',
    'outrigger explain --output=j': 'json',
    'outrigger explain -o ': 'text json',
    'outrigger explain --kubeconfig ': '',
    'outrigger rbac --cluster-c': '--cluster-cidr=',
    'outrigger completion ': 'bash zsh fish',
    'cloud-controller-manager --leader-elect-len': '',
    'cloud-controller-manager --orphan-pol': '--orphan-policy=',
    'cloud-controller-manager --orphan-policy=d': 'delete',
  };
  assert.deepEqual(complete(stdout, Object.keys(lines)), Object.values(lines));
});

test('zsh gives the flag and its value as one word', async () => {
  const { stdout } = await script('zsh');
  assert.match(stdout, /bashcompinit/u);
  const source = stdout.split('\n').slice(2).join('\n');
  const run = `${source}\nCOMP_WORDS=(outrigger explain --output=j); COMP_CWORD=2; _outrigger; echo "\${COMPREPLY[*]}"`;
  assert.equal(spawnSync('bash', ['--norc', '-c', run], { encoding: 'utf8' }).stdout, '--output=json\n');
});

test('fish is told each command and each flag, with what it does', async () => {
  const { stdout } = await script('fish');
  assert.match(stdout, /^complete -c outrigger -n __fish_use_subcommand -f -a explain -d '.+'$/mu);
  assert.match(
    stdout,
    /^complete -c outrigger -n '__fish_seen_subcommand_from explain' -l output -s o -r -f -a 'text json' -d '.+'$/mu,
  );
  for (const line of stdout.trim().split('\n'))
    assert.match(line, /^complete -c (?:outrigger|cloud-controller-manager) (?:[^']|'(?:[^'\\]|\\.)*')*$/u);
});

test('kubectl is told what may be typed, in the form of its own completion', async () => {
  const told = async (...words: string[]): Promise<readonly string[]> => {
    const { code, stderr, stdout } = await script('kubectl', '--', ...words);
    assert.deepEqual([code, stderr], [0, '']);
    return stdout.trimEnd().split('\n');
  };
  assert.match((await told('ex'))[0] ?? '', /^explain\tExplains the state of a node/u);
  assert.ok((await told('')).length > 8);
  for (const [words, answer] of [
    [
      ['explain', ''],
      ['node', 'service', 'route', 'persistentvolume', 'certificatesigningrequest', ':4'],
    ],
    [
      ['explain', 's'],
      ['service', ':4'],
    ],
    [['explain', 'service', ''], [':0']],
    [
      ['explain', 'node', 'a', '--output='],
      ['--output=text', '--output=json', ':4'],
    ],
    [
      ['explain', 'node', 'a', '-o', 'j'],
      ['json', ':4'],
    ],
    [['explain', '--kubeconfig', ''], [':0']],
    [['nonsense', ''], [':4']],
  ] as const) {
    assert.deepEqual(await told(...words), answer, words.join(' '));
  }
  assert.match((await told('explain', '--outp')).join('\n'), /^--output=\t'text' for people.*\n:6$/u);
});

test('another shell is refused, and so is none', async () => {
  for (const words of [[], ['powershell'], ['bash', 'zsh']]) {
    const { code, stderr, stdout } = await script(...words);
    assert.deepEqual([code, stdout], [1, '']);
    assert.match(stderr, /^outrigger completion: expected one shell: bash, zsh or fish; usage: .+\n$/u);
  }
});
