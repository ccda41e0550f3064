/** `outrigger conformance cluster`: judges the cloud-controller-manager that runs in a cluster, whichever it is. */
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import {
  bool,
  closestName,
  duration,
  FlagError,
  FlagSet,
  integer,
  renderHelp,
  string,
  strings,
  type FlagGroup,
} from '@outrigger/controller-manager';
import { createClient, createTransport, loadConfig, systemClock, systemRandom } from '@outrigger/kube';
import type { CommandIo } from '../command-io.ts';
import { renderConsole } from '../report/console.ts';
import { tallyOf } from '../report/tally.ts';
import { writeReports } from '../report/write-reports.ts';
import { openFixture, type ClusterFixture } from './cluster-fixture.ts';
import { CLUSTER_FEATURES } from './cluster-test.ts';
import { clusterTests } from './cluster-tests.ts';
import { runClusterTests } from './run-cluster-tests.ts';

interface ClusterOptions {
  kubeconfig: string;
  fixture: string;
  node: string;
  disruptive: boolean;
  features: readonly string[];
  only: readonly string[];
  timeout: number;
  quietPeriod: number;
  concurrency: number;
  reportDir: string;
  subject: string;
  subjectVersion: string;
  list: boolean;
  help: boolean;
}

const clusterFlags: FlagGroup<ClusterOptions> = {
  title: 'Cluster conformance',
  flags: {
    kubeconfig: {
      type: string,
      default: '',
      usage: 'Path of a kubeconfig file. Without it: $KUBECONFIG, ~/.kube/config, or the service account of the pod.',
    },
    fixture: {
      type: string,
      default: '',
      usage:
        'Path of a module whose createClusterFixture() makes machines in the cloud and looks into it. Without it, what needs a machine is unverifiable.',
    },
    node: {
      type: string,
      default: '',
      usage: 'Name of a Node that the manager has initialized. It is only read.',
    },
    disruptive: {
      type: bool,
      default: false,
      usage: 'Also try what takes away machines and Nodes of the run.',
    },
    features: {
      type: strings,
      default: CLUSTER_FEATURES,
      usage: 'What the manager is meant to do; the tests of all else are skipped.',
    },
    only: {
      type: strings,
      default: [],
      usage: 'Only tests whose names hold one of these texts.',
    },
    timeout: {
      type: duration(),
      default: 300_000,
      usage: 'How long anything is waited for: the longest that a load balancer or a machine takes in this cloud.',
    },
    quietPeriod: {
      type: duration(),
      default: 30_000,
      usage: 'How long it is watched that something does not happen: longer than one round of the manager.',
    },
    concurrency: { type: integer({ min: 1, max: 50 }), default: 4, usage: 'Tests at a time.' },
    reportDir: {
      type: string,
      default: '',
      usage:
        'Directory for report.html, junit.xml, report.json and the tree that testgrid reads. $SONOBUOY_RESULTS_DIR gets them too, if that is set.',
    },
    subject: {
      type: string,
      default: 'cloud-controller-manager',
      usage: 'Name of what is judged, for the reports.',
    },
    subjectVersion: { type: string, default: '', usage: 'Its version, for the reports.' },
    list: { type: bool, default: false, usage: 'List the tests, each with where its promise is written, and end.' },
    help: { type: bool, default: false, usage: 'Show this text and end.', shorthand: 'h' },
  },
};

const SONOBUOY_RESULTS_DIR = 'SONOBUOY_RESULTS_DIR';

const ABOUT =
  'Judges the cloud-controller-manager that runs in a cluster by the Kubernetes API alone. It writes only to a namespace of its own and to ' +
  'Nodes that it has made, and takes all of them away when it ends.';

/** `args` without the command's words. The exit code: 0 when something passed, nothing failed and nothing is left behind, else 1. Never throws. */
export async function runClusterConformance(args: readonly string[], io: CommandIo): Promise<number> {
  try {
    const flags = new FlagSet([clusterFlags]);
    const options = flags.parse(args).of(clusterFlags);
    if (options.help) {
      io.stdout.write(renderHelp(ABOUT, flags));
      return 0;
    }
    checkFeatures(options.features);
    const lost = options.only.find((text) => !clusterTests.some(({ name }) => name.includes(text)));
    if (lost !== undefined)
      throw new FlagError('invalid-flag', `--only=${lost}: no test has this in its name; see --list`);
    if (options.list) {
      for (const { name, source } of clusterTests) io.stdout.write(`${name}\n  ${source}\n`);
      return 0;
    }
    return await judge(options, io);
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    io.stderr.write(`conformance cluster: ${message}\n`);
    await tellSonobuoy(io, 'error.log', `${message}\n`);
    return 1;
  }
}

/**
 * In a plugin of Sonobuoy, the file `done` names the file that is the result, and ends the wait for it:
 * https://sonobuoy.io/docs/main/plugins/#writing-your-own-plugin. `text`: of a file that is not there yet.
 */
async function tellSonobuoy({ env }: CommandIo, file: string, text?: string): Promise<void> {
  const directory = env[SONOBUOY_RESULTS_DIR];
  if (!directory) return;
  const result = path.join(directory, file);
  if (text !== undefined) await writeFile(result, text);
  await writeFile(path.join(directory, 'done'), result);
}

async function judge(options: Readonly<ClusterOptions>, io: CommandIo): Promise<number> {
  const { clock = systemClock, cwd, env, signal = new AbortController().signal, stderr, stdout } = io;
  const { kubeconfig, quietPeriod, reportDir, subject, subjectVersion, timeout } = options;
  const file = kubeconfig === '' ? {} : { kubeconfig: path.resolve(cwd, kubeconfig) };
  await using owned = new AsyncDisposableStack();
  const transport = owned.use(createTransport(await loadConfig({ ...file, env, clock }), { clock }));
  const fixture = await fixtureOf(options.fixture, cwd);
  owned.defer(async () => fixture?.[Symbol.asyncDispose]?.());
  const { report, left } = await runClusterTests({
    ...options,
    client: createClient(transport),
    clock,
    fixture,
    subject: { name: subject, ...(subjectVersion !== '' && { version: subjectVersion }) },
    timeoutMs: timeout,
    quietMs: quietPeriod,
    run: randomName(systemRandom),
    signal,
    onResult: ({ outcome, name }) => stderr.write(`${outcome} ${name}\n`),
  });
  stdout.write(renderConsole(report));
  for (const line of left) stderr.write(`left behind: ${line}\n`);
  const sonobuoy = env[SONOBUOY_RESULTS_DIR] ?? '';
  for (const target of new Set([reportDir, sonobuoy].filter((one) => one !== ''))) {
    const directory = path.resolve(cwd, target);
    await writeReports(report, directory);
    stdout.write(`reports: ${path.join(directory, 'report.html')}\n`);
  }
  await tellSonobuoy(io, 'junit.xml');
  const { failed, passed } = tallyOf(report.results);
  return failed > 0 || passed === 0 || left.length > 0 || signal.aborted ? 1 : 0;
}

function checkFeatures(features: readonly string[]): void {
  for (const feature of features) {
    if ((CLUSTER_FEATURES as readonly string[]).includes(feature)) continue;
    const near = closestName(feature, CLUSTER_FEATURES);
    const hint = near === undefined ? `there are ${CLUSTER_FEATURES.join(', ')}` : `did you mean ${near}?`;
    throw new FlagError('invalid-flag', `invalid value ${JSON.stringify(feature)} for --features: ${hint}`);
  }
}

async function fixtureOf(file: string, cwd: string): Promise<ClusterFixture | undefined> {
  if (file === '') return undefined;
  const where = path.resolve(cwd, file);
  let exports: unknown;
  try {
    exports = await import(pathToFileURL(where).href);
  } catch (error) {
    throw new Error(`--fixture=${file} could not be loaded: ${String(error)}`, { cause: error });
  }
  return await openFixture(exports, `--fixture=${file}`);
}

/** Six letters and digits: two runs in one cluster have different names. */
function randomName(random: () => number): string {
  return Math.floor(random() * 36 ** 6)
    .toString(36)
    .padStart(6, '0');
}
