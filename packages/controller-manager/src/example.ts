import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import * as kube from '@outrigger/kube';
import * as manager from './index.ts';

interface GreeterOptions {
  kubeconfig: string;
  port: number;
  greeting: string;
}

const flags: manager.FlagGroup<GreeterOptions> = {
  title: 'Greeter',
  flags: {
    kubeconfig: { type: manager.string, default: '', usage: 'Path of a kubeconfig file.' },
    port: { type: manager.port, default: 10_300, usage: 'Serves health and metrics to this machine.' },
    greeting: { type: manager.string, default: 'hi', usage: 'The label that each node is given.' },
  },
};

export async function main(args: readonly string[], stop: AbortSignal, log: manager.LogDestination): Promise<number> {
  const { greeting, kubeconfig, port } = new manager.FlagSet([flags]).parse(args).of(flags);
  const [name, clock, random] = ['greeter', kube.systemClock, kube.systemRandom];
  const { logger } = manager.createLogging({ clock, format: 'text', component: name, destination: log });
  const [metrics, health, bindAddress] = [new manager.PrometheusMetrics(), new manager.HealthChecks(), '127.0.0.1'];
  const parts = { name, clock, random, logger, metrics };
  const access = manager.createAccessPolicy({ ...parts, bindAddress, alwaysAllow: ['/healthz'] });
  const app = manager.createPages({ ...parts, access, health, configz: () => ({ [name]: { greeting } }), version: {} });
  await using _server = await manager.startSecureServer({ ...parts, app, bindAddress, port });

  const config = await kube.loadConfig({ kubeconfig });
  await using candidate = kube.createTransport(config, parts);
  const leases = kube.createClient(candidate).of(kube.resources.leases);
  const identity = kube.leaderIdentity(hostname(), randomUUID());
  const elector = new kube.LeaderElector({ ...parts, leases, namespace: 'kube-system', identity });
  health.add({ name: 'leaderElection', check: () => elector.check() });

  const lead = async (_signal: AbortSignal, term?: kube.Leadership): Promise<manager.LeaderWork> => {
    const owned = new AsyncDisposableStack();
    // Nothing is sent that a leader may not send any more.
    const layers = term ? [kube.fence(term)] : [];
    const client = kube.createClient(owned.use(kube.createTransport(config, { ...parts, layers })));
    const nodes = owned.use(new kube.Stores({ ...parts, client })).open(kube.resources.nodes);
    const queue = kube.createWorkQueue<string>(parts);
    nodes.subscribe(({ key }) => queue.add(key));
    const reconcile = async (node: string): Promise<void> => {
      const labels = nodes.get(node)?.metadata?.labels ?? { greeting };
      if (labels['greeting'] === greeting) return;
      await client
        .of(kube.resources.nodes)
        .patch({ name: node }, { type: 'merge', body: { metadata: { labels: { greeting } } } });
    };
    const run = (signal: AbortSignal): Promise<void> =>
      kube.runController({ ...parts, queue, reconciler: { reconcile }, workers: 4, signal });
    return { controllers: [{ name, run }], [Symbol.asyncDispose]: () => owned.disposeAsync() };
  };
  const acquire = (signal: AbortSignal): Promise<kube.Leadership> => elector.acquire(signal);
  return manager.exitCodeOf(await manager.runControllerManager({ ...parts, health, stop, acquire, lead }));
}
