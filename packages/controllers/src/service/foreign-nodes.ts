/** Nodes that are back ends although the cloud does not know them (`LoadBalancers.takesForeignNodes`): which, and what people are told of them. */
import { canonicalIp, type LoadBalancers, type NodeAddress } from '@outrigger/cloud-provider';
import type { EventNote, Node } from '@outrigger/kube';
import type { ToldEvents } from '../told-events.ts';
import type { BackEndSet } from './back-end-set.ts';
import { addressesOf, confirmed } from './back-ends.ts';
import type { ServiceControllerDependencies } from './service-dependencies.ts';

/** Which of them count, and at which addresses (ADR 0065). */
export class ForeignNodes {
  readonly #provider: Pick<LoadBalancers, 'foreignNodesOption' | 'takesForeignNodes'>;
  readonly #told: ToldEvents;
  /** What those said that were there when the controller began, by UID. */
  readonly #atStart = new Map<string, readonly NodeAddress[]>();
  /** UIDs of those that do not count as they are, by name. */
  readonly #leftOut = new Map<string, string>();

  constructor(provider: Pick<LoadBalancers, 'foreignNodesOption' | 'takesForeignNodes'>, told: ToldEvents) {
    this.#provider = provider;
    this.#told = told;
  }

  /** At the start, what is there may be what serves. */
  begin(nodes: Iterable<Node>): void {
    if (this.#provider.takesForeignNodes !== 'at-start') return;
    for (const node of nodes) this.#atStart.set(node.metadata?.uid ?? '', addressesOf(node));
  }

  /** As `ConfirmedAddresses`. */
  addressesOf(node: Node): readonly NodeAddress[] | 'unconfirmed' | undefined {
    const { name = '', uid = '' } = node.metadata ?? {};
    const found = this.#find(node);
    if (found !== 'unconfirmed' || this.#leftOut.get(name) !== uid) this.forget(name);
    if (found !== 'unconfirmed') return found;
    this.#leftOut.set(name, uid);
    this.#told.tell(node, unconfirmedNote(this.#provider.foreignNodesOption));
    return found;
  }

  #find(node: Node): readonly NodeAddress[] | 'unconfirmed' | undefined {
    if (this.#provider.takesForeignNodes !== 'at-start') return undefined;
    const atStart = this.#atStart.get(node.metadata?.uid ?? '') ?? [];
    // Its host name alone, which it keeps wherever it goes, is no address.
    const isThere = confirmed(node, atStart).some(({ address }) => canonicalIp(address) !== undefined);
    return isThere && atStart.length > 0 ? atStart : 'unconfirmed';
  }

  /** The node with this name is gone, or is not left out any more. */
  forget(name: string): void {
    const uid = this.#leftOut.get(name);
    if (uid !== undefined) this.#told.forget(uid);
    this.#leftOut.delete(name);
  }

  /** Names. */
  get leftOut(): Iterable<string> {
    return this.#leftOut.keys();
  }
}

function unconfirmedNote(option: string | undefined): EventNote {
  const remedy =
    option === undefined ? '' : ` To accept such nodes, set ${option} to true; to exclude all of them, to false.`;
  return {
    type: 'Warning',
    reason: 'BackEndUnconfirmed',
    message: `The cloud cannot confirm the addresses of this node, which has no provider ID of this cloud, and which has joined or has other addresses since the service controller began: it does not become a back end of load balancers; if it is one, it stays as it was.${remedy}`,
  };
}

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
  const isAtStart = provider.takesForeignNodes === 'at-start';
  const onJoin = isAtStart ? ', and those that join from now on are not: to include them, set it to true' : '';
  const remedy = option === undefined ? '' : `; to exclude them, set ${option} to false${onJoin}`;
  const message = `Nodes that the cloud does not know are back ends, at addresses that only their status reports${remedy}`;
  logger.warn(message, { provider: options.providerName, nodes });
}
