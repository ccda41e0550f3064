import assert from 'node:assert/strict';
import { EventEmitter } from 'node:events';
import { test } from 'node:test';
import { defaultCommands } from './commands.ts';
import { renderCommands } from './find-command.ts';
import { runInstalled, type ImportModule } from './installed-commands.ts';

const command = { from: '@outrigger/none', member: 'noneCommand', name: 'none' };

interface Outcome {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

async function run(load?: ImportModule, signals = new EventEmitter()): Promise<Outcome> {
  const told = { stdout: '', stderr: '' };
  const stream = (name: keyof typeof told): { write(text: string): void } => ({
    write: (text) => void (told[name] += text),
  });
  const environment = {
    env: { HOME: '/home/me' },
    stdout: stream('stdout'),
    stderr: stream('stderr'),
    signals,
    exit: () => assert.fail('ended'),
    workingDirectory: '/work',
    hostname: 'here',
    builtInProviders: {},
  };
  return { code: await runInstalled(command, ['--x', 'y'], environment, load), ...told };
}

test('the words are among the commands, each with its line', () => {
  for (const word of ['conformance', 'docs', 'lint-repo'])
    assert.match(renderCommands(defaultCommands), new RegExp(`^ {2}${word} +\\S.+\\.$`, 'mu'));
});

test('a package that is not installed is one line, which says what to install', async () => {
  const { code, stderr, stdout } = await run();
  assert.deepEqual([code, stdout], [1, '']);
  const line =
    'outrigger none: this command is part of @outrigger/none, which is not installed beside this program: npm install --save-dev @outrigger/none\n';
  assert.equal(stderr, line);
  // One of an older version, from before it had the command.
  assert.equal((await run(async () => ({}))).stderr, line);
  const noSubpath = Object.assign(
    new Error(`Package subpath './command' is not defined by "exports" in /x/package.json`),
    {
      code: 'ERR_PACKAGE_PATH_NOT_EXPORTED',
    },
  );
  assert.equal((await run(() => Promise.reject(noSubpath))).stderr, line);
});

test('a package that is there and lacks something of its own is not called missing', async () => {
  const lacks = Object.assign(
    new Error("Cannot find package 'yaml' imported from /x/@outrigger/none/command.js\nhint"),
    {
      code: 'ERR_MODULE_NOT_FOUND',
    },
  );
  const { code, stderr } = await run(() => Promise.reject(lacks));
  assert.equal(code, 1);
  assert.match(stderr, /^outrigger none: @outrigger\/none could not be loaded: Cannot find package 'yaml' [^\n]+\n$/u);
});

test('it gets arguments, streams, environment and working directory, and its exit code is the exit code', async () => {
  const seen: unknown[] = [];
  const { code, stderr, stdout } = await run(async (specifier) => ({
    noneCommand: async (
      args: unknown,
      io: Record<'stdout' | 'stderr', { write(text: string): void }> & Record<string, unknown>,
    ) => {
      seen.push(specifier, args, io['cwd'], io['env']);
      io.stdout.write('out');
      io.stderr.write('err');
      return 3;
    },
  }));
  assert.deepEqual([code, stdout, stderr], [3, 'out', 'err']);
  assert.deepEqual(seen, ['@outrigger/none/command', ['--x', 'y'], '/work', { HOME: '/home/me' }]);
});

test('a signal asks it to stop; what it throws is one line', async () => {
  const signals = new EventEmitter();
  const load: ImportModule = async () => ({
    noneCommand: (_: unknown, { signal }: { readonly signal: AbortSignal }) =>
      new Promise((_resolve, reject) => {
        signal.addEventListener('abort', () => reject(new Error('stopped\nhere')));
        signals.emit('SIGINT', 'SIGINT');
      }),
  });
  const { code, stderr } = await run(load, signals);
  assert.deepEqual([code, stderr], [1, 'outrigger none: stopped\n']);
  assert.equal(signals.listenerCount('SIGINT'), 0);
});
