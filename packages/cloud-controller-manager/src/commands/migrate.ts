/** `outrigger migrate check`: reads a live cluster, and says what it lacks for each step of docs/guides/migrate. */
import { duration, FlagError, oneOf, string, strings, type FlagGroup } from '@outrigger/controller-manager';
import { previewServices, type PreviewedService, type PreviewOptions } from '@outrigger/controllers';
import {
  createClient,
  createTransport,
  deadlineSignal,
  loadConfig,
  readOnly,
  resources,
  systemClock,
  type Client,
} from '@outrigger/kube';
import { jsonText } from '../explain/one-line.ts';
import type { Environment } from '../program/environment.ts';
import { worst, type CheckState } from '../migrate/check.ts';
import { judgeCluster, migrationSteps, PLANS, readsOf } from '../migrate/judge-cluster.ts';
import { readCluster } from '../migrate/read-cluster.ts';
import { renderSteps } from '../migrate/render-steps.ts';
import { defineCommand, type Command } from './command.ts';
import { declaringProviderFlags, openToRead } from './declared-load-balancers.ts';

interface MigrateOptions {
  steps: readonly string[];
  cloudProvider: string;
  cloudConfig: string;
  providerPath: string;
  clusterName: string;
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
      usage: `Check only these steps, and read only what they need: ${stepNames.join(', ')}. Default: all.`,
    },
    cloudProvider: {
      type: string,
      default: '',
      usage:
        'Name of the provider that takes over, which is the prefix of its provider IDs. With --cloud-config, a value as the program takes it. Default: the prefix that all nodes have.',
    },
    cloudConfig: {
      type: string,
      default: '',
      usage: `File with the provider's configuration: the cloud is asked, read-only, and the step ${PLANS} says what would happen to each Service's load balancer. Default: that step is left out.`,
    },
    providerPath: declaringProviderFlags.flags.providerPath,
    clusterName: { type: string, default: 'kubernetes', usage: 'The --cluster-name of both programs.' },
    leaderElectResourceName: {
      type: string,
      default: 'cloud-controller-manager',
      usage: 'The Lease in kube-system that Outrigger will use for leader election.',
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

/** All Services of a cluster at a cloud that is slow. */
const CLOUD_MS = 120_000;

const EXIT_CODES: Readonly<Record<CheckState, number>> = { ok: 0, missing: 1, unknown: 2 };

export const migrateCommand: Command = defineCommand({
  name: 'migrate',
  summary:
    'Checks whether a cluster is ready for each step of a migration; read-only. Exit code: 0 ready, 1 something is missing, 2 something could not be checked.',
  words: 'check',
  flags: [migrateFlags],
  examples: [
    [
      'Whether nodes, Services and the Lease are ready',
      'outrigger migrate check --cloud-provider=openstack --steps=nodes,services,leader',
    ],
    [
      "And what would happen to each Service's load balancer",
      'outrigger migrate check --cloud-provider=openstack --cloud-config=cloud.conf',
    ],
  ],
  run: async (parsed, environment) => {
    const { words } = parsed;
    const options = parsed.of(migrateFlags);
    if (words.length !== 1 || words[0] !== 'check')
      throw new FlagError('unexpected-argument', 'expected check, and flags');
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
    const asksCloud = options.cloudConfig !== '';
    const chosen = options.steps.length > 0 ? options.steps : stepNames.filter((name) => asksCloud || name !== PLANS);
    const client = createClient(transport);
    const cluster = await readCluster({
      client,
      clock,
      timeoutMs: options.requestTimeout,
      reads: readsOf(chosen),
      preview: asksCloud ? (seen) => preview(options, seen, { client, environment }) : undefined,
    });
    const target = { providerName: nameOfProvider(options.cloudProvider), leaseName: options.leaderElectResourceName };
    const steps = judgeCluster(cluster, target, chosen);
    const state = worst(steps.map((one) => one.state));
    stdout.write(options.output === 'json' ? jsonText({ state, server: config.server, steps }) : renderSteps(steps));
    return EXIT_CODES[state];
  },
});

/** As the service controller would, with a provider that refuses to change anything. */
async function preview(
  { cloudConfig, cloudProvider, clusterName, providerPath, requestTimeout }: MigrateOptions,
  seen: Pick<PreviewOptions, 'nodes' | 'services'>,
  { client, environment }: { readonly client: Client; readonly environment: Environment },
): Promise<readonly PreviewedService[]> {
  const { clock = systemClock } = environment;
  const { metadata } = await client
    .of(resources.namespaces)
    .get({ name: 'kube-system' }, { answer: 'metadata', timeoutMs: requestTimeout });
  const clusterId = metadata.uid ?? '';
  await using opened = await openToRead(
    { cloudConfig, cloudProvider, providerPath },
    { id: clusterId, name: clusterName },
    environment,
  );
  const { loadBalancers, provider } = opened;
  const timeoutMs = Math.max(requestTimeout, CLOUD_MS);
  const deadline = deadlineSignal(clock, timeoutMs, 'asking the cloud');
  try {
    return await previewServices({
      ...seen,
      loadBalancers,
      options: { clusterId, providerName: provider.name, isDefault: true },
      call: provider.callContext({ signal: deadline.signal, priority: 'normal', reads: true }),
    });
  } finally {
    deadline.cancel();
  }
}

/** `north=openstack` is called north, and `./cloud.ts` what it says itself: then the nodes tell. */
function nameOfProvider(spec: string): string {
  const [name = '', rest] = spec.split('=');
  return rest === undefined && /[./]/u.test(name) ? '' : name;
}
