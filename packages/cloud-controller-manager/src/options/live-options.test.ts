import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtemp, open, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { promisify } from 'node:util';
import { FlagError, PrometheusMetrics } from '@outrigger/controller-manager';
import { silentLogger, type Logger } from '@outrigger/kube';
import { FakeClock } from '@outrigger/testing';
import { LiveOptions } from './live-options.ts';
import { programFlags, type ProgramOptions } from './program-options.ts';

const run = promisify(execFile);
const HEAD = 'apiVersion: cloudcontrollermanager.config.k8s.io/v1alpha1\nkind: CloudControllerManagerConfiguration\n';

interface Rig {
  readonly live: LiveOptions;
  /** What was handed over: verbosity and limits, before and after. */
  readonly applied: string[];
  readonly refused: string[];
  /** Swaps the file, and waits until it is taken or refused. `then`: once more while it is read. */
  readonly change: (text: string, then?: string) => Promise<void>;
}

async function setUp(
  t: TestContext,
  text: string,
  args: readonly string[] = [],
  check: (next: ProgramOptions) => void = () => {},
): Promise<Rig> {
  const directory = await mkdtemp(join(tmpdir(), 'outrigger-live-'));
  t.after(() => rm(directory, { recursive: true }));
  const file = join(directory, 'config.yml');
  await writeFile(file, HEAD + text);
  const live = await LiveOptions.read({
    args: ['--cloud-provider=green', '--config=config.yml', ...args],
    flags: programFlags,
    workingDirectory: directory,
  });
  const clock = new FakeClock();
  const applied: string[] = [];
  const refused: string[] = [];
  const logger: Logger = { ...silentLogger, warn: (_message, fields) => void refused.push(String(fields?.['error'])) };
  const shown = ({ cloud, logs }: ProgramOptions): string =>
    [logs.v, ...cloud.cloudCallLimits.map((limit) => limit.text)].join(' ');
  const following = live.follow({
    apply: (next, before) => {
      check(next);
      applied.push(`${shown(before)} → ${shown(next)}`);
    },
    clock,
    logger,
    metrics: new PrometheusMetrics(),
  });
  t.after(() => following[Symbol.dispose]());
  return {
    live,
    applied,
    refused,
    change: async (next, then) => {
      const done = applied.length + refused.length + 1;
      if (then !== undefined) await putPipe(file);
      const swapped = then === undefined ? swap(file, next) : swapWhileRead(file, next, then);
      // Files are read on the thread pool, which no clock moves.
      while (applied.length + refused.length < done) {
        await clock.advance(10_000);
        await new Promise<void>((resolve) => void setImmediate(resolve));
      }
      await swapped;
    },
  };
}

async function swap(file: string, text: string): Promise<void> {
  await writeFile(`${file}.new`, HEAD + text);
  await rename(`${file}.new`, file);
}

/** A pipe is read as a file is, and has its end where the writer closes it. */
async function putPipe(file: string): Promise<void> {
  await run('mkfifo', [`${file}.new`]);
  await rename(`${file}.new`, file);
}

/** Who opens the pipe reads `text`; before it has come to the end, a file with `then` is in its place. */
async function swapWhileRead(file: string, text: string, then: string): Promise<void> {
  await using writer = await open(file, 'w');
  await writer.writeFile(HEAD + text);
  await swap(file, then);
}

test('verbosity and limits of calls change while the program runs, and are what is in force then', async (t) => {
  const { applied, change, live, refused } = await setUp(t, 'outrigger: { verbosity: 2 }');
  await change('Outrigger: { Verbosity: 5, CloudCallLimits: ["green=3:4"] }');
  await change('outrigger: { cloudCallLimits: [green/volumes=1] }');
  assert.deepEqual(applied, ['2 → 5 green=3:4', '5 green=3:4 → 0 green/volumes=1']);
  assert.deepEqual(refused, []);
  assert.deepEqual(new Map(live.current.flagValues).get('cloud-call-limits'), '[green/volumes=1]');
});

test('the command line wins, as at the start', async (t) => {
  const { applied, change } = await setUp(t, '', ['-v=3', '--cloud-call-limits=green=1']);
  await change('outrigger: { verbosity: 5, cloudCallLimits: [green=2] }');
  assert.deepEqual(applied, ['3 green=1 → 3 green=1']);
});

test('of a file that changes while it is read, what is there at two looks is in force', async (t) => {
  const { applied, change, live } = await setUp(t, 'outrigger: { verbosity: 2 }');
  await change('outrigger: { verbosity: 3 }', 'outrigger: { verbosity: 4 }');
  assert.deepEqual(applied, ['2 → 4']);
  assert.equal(live.current.logs.v, 4);
});

test('of a file that changes while the program starts, what was read is in force', async (t) => {
  const directory = await mkdtemp(join(tmpdir(), 'outrigger-live-'));
  t.after(() => rm(directory, { recursive: true }));
  const file = join(directory, 'config.yml');
  await putPipe(file);
  const [, live] = await Promise.all([
    swapWhileRead(file, 'outrigger: { verbosity: 3 }', 'outrigger: { verbosity: 4 }'),
    LiveOptions.read({
      args: ['--cloud-provider=green', '--config=config.yml'],
      flags: programFlags,
      workingDirectory: directory,
    }),
  ]);
  assert.equal(live.current.logs.v, 3);
});

test('a file that changes what needs a restart, or is wrong, is refused as a whole', async (t) => {
  const refuse = ({ cloud }: ProgramOptions): void => {
    if (cloud.cloudCallLimits.some(({ provider }) => provider !== 'green')) {
      throw new FlagError('invalid-flag', 'there is no such cloud');
    }
  };
  const { applied, change, live, refused } = await setUp(t, 'outrigger: { verbosity: 2 }', [], refuse);
  const before = live.current;
  await change('outrigger: { verbosity: 5 }\nkubeCloudShared: { clusterName: other, clusterCIDR: 10.0.0.0/8 }');
  await change('outrigger: { verbosity: -1 }');
  await change('outrigger: { verbosity: 5, cloudCallLimits: [blue=1] }');
  await change('outrigger: { verbose: 5 }');
  assert.deepEqual(applied, []);
  for (const [i, words] of [
    /config\.yml: it changes --cluster-cidr, --cluster-name, which needs a restart; no change is in effect$/u,
    /config\.yml:3: outrigger\.verbosity: invalid value "-1": must be at least 0$/u,
    /there is no such cloud$/u,
    /config\.yml:3: outrigger\.verbose: unknown key$/u,
  ].entries()) {
    assert.match(refused[i] ?? '', words);
  }
  assert.equal(live.current, before);
});
