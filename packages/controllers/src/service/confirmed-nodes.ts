/**
 * Whether the cloud confirms the nodes that take traffic. Their status is written by their kubelets too: a node whose machine the cloud
 * does not know could lead the traffic of load balancers anywhere. Entry point: `ConfirmedNodes`.
 */
import type { InstanceResult } from '@outrigger/cloud-provider';
import { withDeadline, type EventNote, type Node, type Timer } from '@outrigger/kube';
import type { Fact } from '../finding.ts';
import { refOfNode } from '../node-ref.ts';
import { isBackEnd, isForeign, type BackEndProvider, type ConfirmedAddresses } from './back-ends.ts';
import type { ServiceControllerDependencies } from './service-dependencies.ts';

type Dependencies = Pick<ServiceControllerDependencies, 'clock' | 'events' | 'logger' | 'machines' | 'nodes'>;

/** Load balancers wait so long for what the cloud says of nodes. */
const ANSWER_MS = 30_000;
/** A machine that the cloud does not know yet is asked about again after this time, doubled up to the longest. */
const FIRST_AGAIN_MS = 5_000;
const LONGEST_AGAIN_MS = 60_000;
/** At the start: where the cloud knows nothing of more than this part of the nodes, and of more than one, its answers are in doubt. */
const MOST_UNKNOWN = 0.1;
/** Nodes that are named. */
const MOST_FACTS = 10;

/** A node that the cloud has not confirmed. */
interface Doubt {
  readonly uid: string;
  /** Its status counts all the same: the cloud does not say. Otherwise it does not become a back end. */
  counts: boolean;
  afterMs: number;
  timer?: Timer;
}

export class ConfirmedNodes {
  readonly #deps: Dependencies;
  readonly #provider: BackEndProvider;
  readonly #signal: AbortSignal;
  readonly #onChanged: (name: string) => void;
  /** By name. */
  readonly #doubts = new Map<string, Doubt>();
  #unsubscribe: () => void = () => {};

  /** `onChanged`: what `addressesOf` says of the node with this name may be something else now. */
  constructor(deps: Dependencies, provider: BackEndProvider, signal: AbortSignal, onChanged: (name: string) => void) {
    this.#deps = deps;
    this.#provider = provider;
    this.#signal = signal;
    this.#onChanged = onChanged;
  }

  /**
   * At the start, before any load balancer is changed, all nodes are asked about. One of which nothing can be found out may be what serves:
   * its status counts. Rejects when `signal` aborts.
   */
  async begin(): Promise<void> {
    const { clock, logger, machines, nodes } = this.#deps;
    const [provider, signal] = [this.#provider, this.#signal];
    if (!machines) return;
    this.#unsubscribe = nodes.subscribe((change) => {
      if (change.type === 'delete') this.forget(change.previous);
    });
    const asked = [...nodes.values()].filter((node) => isBackEnd(node, provider));
    if (asked.length === 0) return;
    const what = `asking about the addresses of ${asked.length} nodes`;
    const absent = new Set<Node>();
    try {
      await withDeadline({ clock, timeoutMs: ANSWER_MS, what, signal }, async (either) => {
        // One that cannot be asked about does not keep the answers of the others from being waited for.
        const answers = await Promise.allSettled(asked.map((node) => machines.lookUp(refOfNode(node), either)));
        const unknown = asked.filter((node, i) => isUnknown(answers[i]) && !isForeign(node.spec?.providerID, provider));
        if (unknown.length <= Math.max(1, MOST_UNKNOWN * asked.length)) {
          await Promise.allSettled(
            unknown.map(async (node) => {
              if ((await machines.read(refOfNode(node), either)).kind === 'absent') absent.add(node);
            }),
          );
        }
        for (const answer of answers) if (answer.status === 'rejected') throw answer.reason;
      });
    } catch (error) {
      signal.throwIfAborted();
      logger.warn('Until the cloud confirms them, addresses of nodes count as they are', { error });
    }
    for (const node of asked) {
      if (machines.known(node)?.kind === 'found') continue;
      const doubt = this.#doubt(node, !absent.has(node));
      if (!doubt.counts) this.#stillUnknown(node, doubt);
    }
  }

  /** By the last answer of the cloud. Asks it about a node that is new: until it has confirmed that, it is `unconfirmed`. */
  readonly addressesOf: ConfirmedAddresses = (node, before) => {
    const { machines } = this.#deps;
    const known = machines?.known(node);
    if (known?.kind === 'found') {
      this.forget(node);
      return known.instance.addresses;
    }
    if (!machines || isForeign(node.spec?.providerID, this.#provider)) return undefined;
    const doubt = this.#doubts.get(node.metadata?.name ?? '');
    if (doubt && doubt.uid === node.metadata?.uid) return doubt.counts ? undefined : 'unconfirmed';
    if (!before) void this.#ask(node, this.#doubt(node, false));
    return 'unconfirmed';
  };

  /** The node is gone, or confirmed. */
  forget({ metadata }: Node): void {
    const name = metadata?.name ?? '';
    this.#doubts.get(name)?.timer?.cancel();
    this.#doubts.delete(name);
  }

  stop(): void {
    this.#unsubscribe();
    for (const { timer } of this.#doubts.values()) timer?.cancel();
  }

  /** Which nodes get no traffic for that. */
  facts(): readonly Fact[] {
    const waiting = [...this.#doubts].filter(([, { counts }]) => !counts).slice(0, MOST_FACTS);
    return waiting.map(([name]) => ({
      text: `The node ${name} does not become a back end: the cloud has not confirmed that its machine exists.`,
    }));
  }

  #doubt(node: Node, counts: boolean): Doubt {
    this.forget(node);
    const doubt: Doubt = { uid: node.metadata?.uid ?? '', counts, afterMs: FIRST_AGAIN_MS };
    this.#doubts.set(node.metadata?.name ?? '', doubt);
    return doubt;
  }

  async #ask(node: Node, doubt: Doubt): Promise<void> {
    const { clock, machines } = this.#deps;
    const signal = this.#signal;
    const name = node.metadata?.name ?? '';
    const what = `asking about the machine of node ${name}`;
    let answer: InstanceResult | undefined;
    try {
      answer = await withDeadline({ clock, timeoutMs: ANSWER_MS, what, signal }, async (either) => {
        return machines?.lookUp(refOfNode(node), either);
      });
    } catch {
      // It did not answer.
    }
    if (signal.aborted || this.#doubts.get(name) !== doubt) return;
    if (answer?.kind === 'missing' || answer?.kind === 'absent') return this.#stillUnknown(node, doubt);
    // What cannot be found out is not wrong for that.
    doubt.counts = true;
    this.#onChanged(name);
  }

  #stillUnknown(node: Node, doubt: Doubt): void {
    const { clock, events, nodes } = this.#deps;
    const name = node.metadata?.name ?? '';
    if (doubt.afterMs > FIRST_AGAIN_MS) events.record(node, UNCONFIRMED);
    doubt.timer = clock.setTimer(doubt.afterMs, () => {
      const now = nodes.get(name);
      if (now?.metadata?.uid === doubt.uid) void this.#ask(now, doubt);
      else this.forget(node);
    });
    doubt.afterMs = Math.min(LONGEST_AGAIN_MS, 2 * doubt.afterMs);
  }
}

function isUnknown(answer: PromiseSettledResult<InstanceResult> | undefined): boolean {
  return answer?.status === 'fulfilled' && (answer.value.kind === 'missing' || answer.value.kind === 'absent');
}

const UNCONFIRMED: EventNote = {
  type: 'Warning',
  reason: 'BackEndUnconfirmed',
  message:
    'Load balancers send no traffic to this node: the cloud has no machine with its provider ID. Check the provider ID, and which project, account or region the credentials see. To accept such nodes, set --unconfirmed-node-addresses.',
};
