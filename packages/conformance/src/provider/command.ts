/** `outrigger conformance provider`: judges a provider by the contract, over a cloud that its fixture gives. */
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import type { ConfigText } from '@outrigger/cloud-provider';
import { loadProvider } from '@outrigger/cloud-runtime';
import {
  bool,
  duration,
  FlagError,
  FlagSet,
  renderHelp,
  string,
  strings,
  type FlagGroup,
} from '@outrigger/controller-manager';
import { onAbort } from '@outrigger/kube';
import type { CommandIo } from '../command-io.ts';
import { renderConsole } from '../report/console.ts';
import { writeReports } from '../report/write-reports.ts';
import type { ProviderFixture } from './provider-fixture.ts';
import type { ProviderSubject } from './provider-rig.ts';
import { providerTests } from './provider-tests.ts';
import { runProviderTests } from './run-provider-tests.ts';

interface ProviderOptions {
  cloudProvider: string;
  providerPath: string;
  cloudConfig: string;
  fixture: string;
  only: readonly string[];
  testTimeout: number;
  reportDir: string;
  subject: string;
  subjectVersion: string;
  list: boolean;
  help: boolean;
}

const providerFlags: FlagGroup<ProviderOptions> = {
  title: 'Provider conformance',
  flags: {
    cloudProvider: {
      type: string,
      default: '',
      usage: 'Path of the module of the provider, or name of its package with --provider-path.',
    },
    providerPath: { type: string, default: '', usage: 'Directory in which packages of providers are installed.' },
    cloudConfig: {
      type: string,
      default: '',
      usage: 'Path of the cloud config. A fixture that has a config of its own goes before it.',
    },
    fixture: {
      type: string,
      default: '',
      usage: 'Path of a module whose createProviderFixture(), or default export, gives the cloud to try it in.',
    },
    only: { type: strings, default: [], usage: 'Only tests whose names hold one of these texts.' },
    testTimeout: { type: duration(), default: 1_800_000, usage: 'No test takes longer.' },
    reportDir: {
      type: string,
      default: '',
      usage: 'Directory for report.html, junit.xml, report.json and the tree that testgrid reads.',
    },
    subject: {
      type: string,
      default: '',
      usage: 'Name of what is judged, for the reports. Default: the provider says it.',
    },
    subjectVersion: { type: string, default: '', usage: 'Its version, for the reports.' },
    list: { type: bool, default: false, usage: 'List the tests, each with where its promise is written, and end.' },
    help: { type: bool, default: false, usage: 'Show this text and end.', shorthand: 'h' },
  },
};

const ABOUT =
  'Judges a provider by what the contract promises, over a cloud that its fixture gives: machines, load balancers, routes, volumes, pod ranges, amid ' +
  'faults. What it makes carries a cluster ID of its own, and is taken away again.';

/** `args` without the command's words. The exit code: 0 when nothing failed and nothing is left behind, else 1. Never throws. */
export async function runProviderConformance(args: readonly string[], io: CommandIo): Promise<number> {
  try {
    const flags = new FlagSet([providerFlags]);
    const options = flags.parse(args).of(providerFlags);
    if (options.help) {
      io.stdout.write(renderHelp(ABOUT, flags));
      return 0;
    }
    const lost = options.only.find((text) => !providerTests.some(({ name }) => name.includes(text)));
    if (lost !== undefined) {
      throw new FlagError('invalid-flag', `--only=${lost}: no test has this in its name; see --list`);
    }
    if (options.list) {
      for (const { name, source } of providerTests) io.stdout.write(`${name}\n  ${source}\n`);
      return 0;
    }
    return await judge(options, io);
  } catch (error) {
    io.stderr.write(`conformance provider: ${error instanceof Error ? error.message : String(error)}\n`);
    return 1;
  }
}

async function judge(options: Readonly<ProviderOptions>, { cwd, signal, stderr, stdout }: CommandIo): Promise<number> {
  const { only, reportDir, subject: name, subjectVersion: version, testTimeout } = options;
  const tests = providerTests.filter((one) => only.length === 0 || only.some((text) => one.name.includes(text)));
  if (signal) {
    onAbort(signal, () => {
      stderr.write('stopping: what was made is taken away; a second signal ends it at once, and leaves that behind\n');
    });
  }
  const left: string[] = [];
  const report = await runProviderTests(await subjectOf(options, cwd), {
    tests,
    testTimeoutMs: testTimeout,
    ...(name !== '' && { name }),
    ...(version !== '' && { version }),
    ...(signal && { signal }),
    onResult: (result) => stderr.write(`${result.outcome} ${result.name}\n`),
    onLeft: (line) => {
      left.push(line);
      stderr.write(`left behind: ${line}\n`);
    },
  });
  stdout.write(renderConsole(report));
  if (reportDir !== '') {
    const directory = path.resolve(cwd, reportDir);
    await writeReports(report, directory);
    stdout.write(`reports: ${path.join(directory, 'report.html')}\n`);
  }
  const failed = report.results.length < tests.length || report.results.some(({ outcome }) => outcome === 'failed');
  return failed || left.length > 0 || signal?.aborted ? 1 : 0;
}

async function subjectOf(options: Readonly<ProviderOptions>, cwd: string): Promise<ProviderSubject> {
  const { cloudConfig, cloudProvider, providerPath } = options;
  if (cloudProvider === '' || options.fixture === '') {
    throw new FlagError('invalid-flag', '--cloud-provider and --fixture have to be given; --help says what they are');
  }
  const load = {
    builtIn: {},
    workingDirectory: cwd,
    ...(providerPath !== '' && { providerPath }),
  };
  // What is wrong with it is said once, and not by each test.
  await loadProvider(cloudProvider, load);
  const fixture = await makerOf(options.fixture, cwd);
  await (await fixture())[Symbol.asyncDispose]();
  return {
    provider: () => loadProvider(cloudProvider, load),
    fixture,
    config: await configOf(cloudConfig, cwd),
  };
}

async function configOf(file: string, cwd: string): Promise<ConfigText | undefined> {
  if (file === '') return undefined;
  return { fileName: file, text: await readFile(path.resolve(cwd, file), 'utf8') };
}

async function makerOf(file: string, cwd: string): Promise<() => Promise<ProviderFixture>> {
  let module: { readonly createProviderFixture?: unknown; readonly default?: unknown };
  try {
    module = (await import(pathToFileURL(path.resolve(cwd, file)).href)) as typeof module;
  } catch (error) {
    throw new Error(`--fixture=${file} could not be loaded: ${String(error)}`, { cause: error });
  }
  const make = module.createProviderFixture ?? module.default;
  if (typeof make !== 'function') {
    throw new Error(
      `--fixture=${file}: the module has neither createProviderFixture() nor a function as its default export`,
    );
  }
  return async () => checked(await (make as () => unknown)(), file);
}

function checked(fixture: unknown, file: string): ProviderFixture {
  const members = (typeof fixture === 'object' && fixture !== null ? fixture : {}) as Readonly<
    Record<PropertyKey, unknown>
  >;
  for (const name of ['createMachine', 'stopMachine', 'deleteMachine', 'listMachines', Symbol.asyncDispose] as const) {
    if (typeof members[name] !== 'function') throw new Error(`--fixture=${file}: the fixture has no ${String(name)}()`);
  }
  return fixture as ProviderFixture;
}
