/** `outrigger ui`: a page on 127.0.0.1 that shows what the leader knows. */
import { clusterOf, defineCommand, managerFlags, managerOf, type Command } from '@outrigger/cloud-controller-manager';
import { port, watchStopSignals, type FlagGroup } from '@outrigger/controller-manager';
import { silentLogger, systemClock, whenAborted, type ClusterConfig } from '@outrigger/kube';
import { leaderAccessOf } from '@outrigger/status';
import { startUi } from './start-ui.ts';

interface UiFlags {
  port: number;
}

const uiFlags: FlagGroup<UiFlags> = {
  title: 'Page',
  flags: {
    port: { type: port, default: 0, usage: 'Port of 127.0.0.1 on which the page is served. 0: any free one.' },
  },
};

export const uiCommand: Command = defineCommand({
  name: 'ui',
  summary: 'Serves a page on 127.0.0.1 that shows each node, Service and route, and why it is in its state.',
  flags: [uiFlags, managerFlags],
  examples: [
    ['The leader is found by its Lease', 'outrigger ui'],
    [
      'The leader through a port-forward',
      'outrigger ui --server=https://127.0.0.1:10258 --certificate-authority=ca.crt',
    ],
  ],
  run: async (parsed, environment) => {
    const options = parsed.of(managerFlags);
    const { clock = systemClock, exit, signals, stderr, stdout } = environment;
    // Also with --server: nodes and Services are read from the API server.
    const cluster = (await clusterOf({ ...options, server: '' }, environment)) as ClusterConfig;
    using stop = watchStopSignals(signals, silentLogger, () => exit(1));
    await using ui = await startUi({
      cluster,
      findLeader: (signal) => managerOf(options, cluster, environment, signal),
      leaderAccess: (signal) => leaderAccessOf(options, cluster, environment, signal),
      lease: { namespace: options.leaderElectResourceNamespace, name: options.leaderElectResourceName },
      port: parsed.of(uiFlags).port,
      timeoutMs: options.requestTimeout,
      clock,
    });
    stdout.write(`${ui.link}\n`);
    stderr.write('Open this link: it works once, and in one browser. Ctrl-C ends the page.\n');
    await whenAborted(stop.signal);
    return 0;
  },
});
