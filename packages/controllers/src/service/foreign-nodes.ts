/** Nodes that are back ends although the cloud does not know them (`LoadBalancers.takesForeignNodes`), for people. */
import type { BackEndSet } from './back-end-set.ts';
import type { ServiceControllerDependencies } from './service-dependencies.ts';

type Dependencies = Pick<ServiceControllerDependencies, 'logger' | 'metrics' | 'options' | 'provider'>;

/** How many there are: now for the log, and at each scrape. */
export function watchForeignNodes(backEnds: BackEndSet, deps: Dependencies, signal: AbortSignal): void {
  const { metrics, options } = deps;
  const foreignNodes = metrics.gauge({
    name: 'outrigger_load_balancer_foreign_nodes',
    help: 'Nodes that are back ends although no provider of this program knows them: their addresses are what they report themselves.',
    labels: ['provider'],
  });
  metrics.onCollect(() => foreignNodes.set(backEnds.foreign, { provider: options.providerName }), signal);
  warnOfForeignNodes(backEnds, deps);
}

/** Who can write the status of such a Node can lead the traffic of load balancers anywhere. */
export function warnOfForeignNodes({ foreign: nodes }: BackEndSet, { logger, options, provider }: Dependencies): void {
  if (nodes === 0) return;
  const { foreignNodesOption: option } = provider;
  const remedy = option === undefined ? '' : `; to exclude them, set ${option} to false`;
  const message = `Nodes that the cloud does not know are back ends, at addresses that only their status reports${remedy}`;
  logger.warn(message, { provider: options.providerName, nodes });
}
