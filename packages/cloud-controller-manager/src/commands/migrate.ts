/** `outrigger migrate check`: reads a live cluster, and says what it lacks for each step of docs/guides/migrate. */
import { duration, FlagError, oneOf, string, strings, type FlagGroup } from '@outrigger/controller-manager';
import { createClient, createTransport, loadConfig, readOnly, systemClock } from '@outrigger/kube';
import { worst, type CheckState } from '../migrate/check.ts';
import { judgeCluster, migrationSteps, readsOf } from '../migrate/judge-cluster.ts';
import { readCluster } from '../migrate/read-cluster.ts';
import { renderSteps } from '../migrate/render-steps.ts';
import { defineCommand, type Command } from './command.ts';

interface MigrateOptions {
  steps: readonly string[];
  cloudProvider: string;
  leaderElectResourceName: string;
  kubeconfig: string;
  requestTimeout: number;
  output: 'text' | 'json';
}

const stepNames = migrationSteps.map(({ name }) => name);

const migrateFlags: FlagGroup<MigrateOptions> = {
  title: 'Migrate',
  flags: {
    steps: {
      type: strings,
      default: [],
      usage: `Only these, and only what they need is read: ${stepNames.join(', ')}. Default: all.`,
    },
    cloudProvider: {
      type: string,
      default: '',
      usage:
        'Name of the provider that takes over: what provider IDs begin with. Default: the one that all nodes have.',
    },
    leaderElectResourceName: {
      type: string,
      default: 'cloud-controller-manager',
      usage: 'The Lease in kube-system that Outrigger is to seek.',
    },
    kubeconfig: {
      type: string,
      default: '',
      usage: 'Path of a kubeconfig file. Default: $KUBECONFIG, ~/.kube/config, or the service account.',
    },
    requestTimeout: { type: duration({ minMs: 1 }), default: 10_000, usage: 'How long to wait for each answer.' },
    output: { type: oneOf(['text', 'json']), default: 'text', shorthand: 'o', usage: "'text' for people, or 'json'." },
  },
};

const EXIT_CODES: Readonly<Record<CheckState, number>> = { ok: 0, missing: 1, unknown: 2 };

export const migrateCommand: Command = defineCommand({
  name: 'migrate',
  summary:
    'Says what a cluster lacks for each step of a migration; only reads. Exit code: 0 nothing, 1 something, 2 some of it could not be seen.',
  words: 'check',
  flags: [migrateFlags],
  run: async (parsed, environment) => {
    const { words } = parsed;
    const options = parsed.of(migrateFlags);
    if (words.length !== 1 || words[0] !== 'check')
      throw new FlagError('unexpected-argument', 'write check, and flags');
    const stranger = options.steps.find((name) => !stepNames.includes(name));
    if (stranger !== undefined) {
      throw new FlagError('invalid-flag', `--steps: no step ${stranger}; there are ${stepNames.join(', ')}`);
    }
    const { clock = systemClock, env, stdout } = environment;
    const { kubeconfig } = options;
    const config = await loadConfig({ ...(kubeconfig === '' ? {} : { kubeconfig }), env, clock });
    // What is busy is asked again as long as the answer may take; a write would be refused before it is sent.
    const retry = { maxTotalMs: options.requestTimeout };
    await using transport = createTransport(config, { clock, retry, layers: [readOnly()] });
    const cluster = await readCluster({
      client: createClient(transport),
      clock,
      timeoutMs: options.requestTimeout,
      reads: readsOf(options.steps),
    });
    const target = { providerName: options.cloudProvider, leaseName: options.leaderElectResourceName };
    const steps = judgeCluster(cluster, target, options.steps);
    const state = worst(steps.map((one) => one.state));
    stdout.write(
      options.output === 'json'
        ? `${JSON.stringify({ state, server: config.server, steps }, undefined, 2)}\n`
        : renderSteps(steps),
    );
    return EXIT_CODES[state];
  },
});
