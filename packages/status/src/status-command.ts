/** `outrigger status`: whether the cloud-controller-manager of a cluster does its work, and what to do where it does not. */
import {
  clusterOf,
  defineCommand,
  jsonText,
  managerFlags,
  managerOf,
  type Command,
  type Environment,
  type ManagerOptions,
} from '@outrigger/cloud-controller-manager';
import { FlagError, oneOf, string, type FlagGroup } from '@outrigger/controller-manager';
import { createTransport, readOnly, systemClock, withDeadline, type ClusterConfig } from '@outrigger/kube';
import type { ClusterState } from './cluster-status.ts';
import { collectStatus } from './collect-status.ts';
import type { LeaderAccess } from './read-leader.ts';
import { renderStatus } from './render-status.ts';

interface StatusOptions {
  namespace: string;
  output: 'text' | 'json';
}

const statusFlags: FlagGroup<StatusOptions> = {
  title: 'Status',
  flags: {
    namespace: {
      type: string,
      default: '',
      shorthand: 'n',
      usage: 'Namespace of the manager and of its Lease. Default: that of --leader-elect-resource-namespace.',
    },
    output: { type: oneOf(['text', 'json']), default: 'text', shorthand: 'o', usage: "'text' for people, or 'json'." },
  },
};

const EXIT_CODES: Readonly<Record<ClusterState, number>> = { healthy: 0, unknown: 1, problems: 2 };

function statusCommandOf(name: string, summary: string): Command {
  return defineCommand({
    name,
    summary,
    flags: [statusFlags, managerFlags],
    examples: [
      ['Whether all is well, and what to do where it is not', `outrigger ${name}`],
      ['For a script', `outrigger ${name} --output=json`],
      [
        'Another cluster, whose manager has a certificate of its own',
        `outrigger ${name} --context=prod --certificate-authority=ca.crt`,
      ],
    ],
    run: async (parsed, environment) => {
      const [word] = parsed.words;
      if (word !== undefined) throw new FlagError('unexpected-argument', `unexpected argument ${JSON.stringify(word)}`);
      const { namespace, output } = parsed.of(statusFlags);
      const options = parsed.of(managerFlags);
      const { clock = systemClock, env, stdout } = environment;
      // The cluster is asked, whether or not a manager is named.
      const cluster = await clusterOf({ ...options, server: '' }, environment);
      if (!cluster) throw new Error('no kubeconfig');
      const { leaderElectResourceName, leaderElectResourceNamespace, requestTimeout } = options;
      await using transport = createTransport(cluster, {
        clock,
        retry: { maxTotalMs: requestTimeout },
        layers: [readOnly()],
      });
      const deadline = { clock, timeoutMs: requestTimeout, what: 'asking the cluster' };
      const status = await withDeadline(deadline, (signal) =>
        collectStatus({
          transport,
          server: cluster.server,
          namespace: namespace === '' ? leaderElectResourceNamespace : namespace,
          leaseName: leaderElectResourceName,
          leader: leaderAccessOf(options, cluster, environment, signal),
          timeoutMs: requestTimeout,
          clock,
          signal,
        }),
      );
      // Only a terminal has a width.
      const colour = stdout.columns !== undefined && !env['NO_COLOR'] && env['TERM'] !== 'dumb';
      stdout.write(output === 'json' ? jsonText(status) : renderStatus(status, { colour }));
      return EXIT_CODES[status.state];
    },
  });
}

/** How the flags of a command say that the leader is asked. */
export function leaderAccessOf(
  options: ManagerOptions,
  cluster: ClusterConfig,
  environment: Environment,
  signal: AbortSignal,
): LeaderAccess {
  const { managerPort: port, server } = options;
  return {
    ...(server !== '' && { url: server.replace(/\/+$/u, '') }),
    port,
    configOf: (url) => managerOf({ ...options, server: url }, cluster, environment, signal),
  };
}

export const statusCommand: Command = statusCommandOf(
  'status',
  'Shows whether the cloud-controller-manager does its work: leader, clouds, nodes, Services, and a remedy for each problem; read-only. Exit code: 0 healthy, 1 something could not be asked, 2 problems.',
);

export const doctorCommand: Command = statusCommandOf('doctor', 'The same as status.');
