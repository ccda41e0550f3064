/**
 * Whether the cloud confirms the nodes that take traffic. Their status is written by their kubelets too: a node whose machine the cloud
 * does not know could lead the traffic of load balancers anywhere (ADR 0065). Entry point: `ConfirmedNodes`.
 */
import { isCloudError, type InstanceResult } from '@outrigger/cloud-provider';
import { withDeadline, type EventNote, type Node, type Timer } from '@outrigger/kube';
import type { Fact } from '../finding.ts';
import { asError } from '../load-balancer/failure.ts';
import { refOfNode } from '../node-ref.ts';
import { ToldEvents } from '../told-events.ts';
import { ForeignNodes } from './foreign-nodes.ts';
import {
  addressesOf,
  confirmed,
  isBackEnd,
  isForeign,
  type BackEndProvider,
  type ConfirmedAddresses,
} from './back-ends.ts';
import type { ServiceControllerDependencies } from './service-dependencies.ts';

type Dependencies = Pick<
  ServiceControllerDependencies,
  'clock' | 'events' | 'logger' | 'machines' | 'nodes' | 'provider'
>;

/** Load balancers wait so long for what the cloud says of nodes. */
const ANSWER_MS = 30_000;
/** The cloud is asked again after this time, doubled up to the longest. */
const FIRST_AGAIN_MS = 5_000;
const LONGEST_AGAIN_MS = 60_000;
/** At the start: where the cloud knows nothing of more than this part of its nodes, and of more than one, its answers are in doubt. */
const MOST_UNKNOWN = 0.1;
/** Nodes that are named. */
const MOST_FACTS = 10;

/** What is to be found out about a node. */
interface Question {
  readonly uid: string;
  /**
   * - `new`: the cloud has not said anything. The node does not become a back end.
   * - `held`: it has. Only what it confirms counts from then on.
   * - `counts`: it could not be asked. Until it can, the status of the node counts: what is not known to be wrong may be what serves.
   */
  state: 'new' | 'held' | 'counts';
  afterMs: number;
  timer?: Timer;
}

export class ConfirmedNodes {
  readonly #deps: Dependencies;
  readonly #provider: BackEndProvider;
  readonly #signal: AbortSignal;
  readonly #onChanged: (name: string) => void;
  readonly #told: ToldEvents;
  readonly #foreign: ForeignNodes;
  /** By name. */
  readonly #questions = new Map<string, Question>();

  /** `onChanged`: what `addressesOf` says of the node with this name may be something else now. */
  constructor(deps: Dependencies, provider: BackEndProvider, signal: AbortSignal, onChanged: (name: string) => void) {
    this.#deps = deps;
    this.#provider = provider;
    this.#signal = signal;
    this.#onChanged = onChanged;
    this.#told = new ToldEvents(deps.events, deps.clock);
    this.#foreign = new ForeignNodes(deps.provider, this.#told);
  }

  /**
   * At the start, before any load balancer is changed, all nodes are asked about. What is not proved to be no machine may be what serves.
   * Rejects when `signal` aborts.
   */
  async begin(): Promise<void> {
    const { clock, logger, machines, nodes } = this.#deps;
    const all = [...nodes.values()];
    this.#foreign.begin(all.filter((node) => this.#isForeign(node)));
    const asked = all.filter((node) => isBackEnd(node, this.#provider));
    if (!machines || asked.length === 0) return;
    const what = `asking about the addresses of ${asked.length} nodes`;
    const absent = new Set<Node>();
    try {
      await withDeadline({ clock, timeoutMs: ANSWER_MS, what, signal: this.#signal }, async (signal) => {
        // One that cannot be asked about does not keep the answers of the others from being waited for.
        const answers = await Promise.allSettled(asked.map((node) => machines.lookUp(refOfNode(node), signal)));
        const own = asked.map((node, i) => ({ node, answer: answers[i] })).filter(({ node }) => !this.#isForeign(node));
        const unknown = own.filter(({ answer }) => answer?.status === 'fulfilled' && isNoMachine(answer.value));
        if (unknown.length < own.length && unknown.length <= Math.max(1, MOST_UNKNOWN * own.length)) {
          const reads = unknown.map(async ({ answer, node }) => {
            // Of an ID that is none, a read says the same: what it is was chosen by who registered the node.
            const isProved = answer?.status === 'fulfilled' && isNoID(answer.value);
            if (isProved || (await machines.read(refOfNode(node), signal)).kind === 'absent') absent.add(node);
          });
          await Promise.allSettled(reads);
        }
        for (const answer of answers) if (answer.status === 'rejected') throw answer.reason;
      });
    } catch (error) {
      this.#signal.throwIfAborted();
      logger.warn('Until the cloud confirms them, addresses of nodes count as they are', { error });
    }
    for (const node of asked) {
      if (machines.known(node)?.kind === 'found' || this.#isForeign(node)) continue;
      this.#askLater(node.metadata?.name ?? '', this.#question(node, absent.has(node) ? 'held' : 'counts'));
    }
  }

  /** By the last answer of the cloud, which is asked about what is new. */
  readonly addressesOf: ConfirmedAddresses = (node, before) => {
    const { machines } = this.#deps;
    const name = node.metadata?.name ?? '';
    const known = machines?.known(node);
    const question = this.#questions.get(name);
    const isOpen = question !== undefined && question.uid === node.metadata?.uid;
    if (known?.kind === 'found') {
      const { addresses } = known.instance;
      // Where nobody else asks, the last answer would stay the last.
      if (confirmed(node, addresses).length === addressesOf(node).length) this.forget(name);
      else if (!isOpen) this.#askLater(name, this.#question(node, 'held'));
      return addresses;
    }
    if (!machines) return undefined;
    if (this.#isForeign(node)) return this.#foreign.addressesOf(node);
    this.#foreign.forget(name);
    if (isOpen) return question.state === 'counts' ? undefined : 'unconfirmed';
    if (!before) void this.#ask(name, this.#question(node, 'new'));
    return 'unconfirmed';
  };

  /** There is nothing to be found out about the node with this name. */
  forget(name: string): void {
    this.#foreign.forget(name);
    const question = this.#questions.get(name);
    if (!question) return;
    question.timer?.cancel();
    this.#told.forget(question.uid);
    this.#questions.delete(name);
  }

  stop(): void {
    for (const name of this.#questions.keys()) this.forget(name);
  }

  /** Of which nodes the cloud does not have the machine. */
  facts(): readonly Fact[] {
    const { machines, nodes } = this.#deps;
    const isUnknown = ([name, { state }]: readonly [string, Question]): boolean => {
      const node = nodes.get(name);
      return state !== 'counts' && node !== undefined && machines?.known(node)?.kind !== 'found';
    };
    const unknown = [...this.#questions].filter((one) => isUnknown(one)).map(([name]) => name);
    return [...unknown, ...this.#foreign.leftOut].slice(0, MOST_FACTS).map((name) => ({
      text: `The cloud has not confirmed the machine of the node ${name}: it does not become a back end; if it is one, it stays as it was.`,
    }));
  }

  #isForeign({ spec }: Node): boolean {
    return isForeign(spec?.providerID, this.#provider);
  }

  #question({ metadata }: Node, state: Question['state']): Question {
    const { name = '', uid = '' } = metadata ?? {};
    this.forget(name);
    const question: Question = { uid, state, afterMs: FIRST_AGAIN_MS };
    this.#questions.set(name, question);
    return question;
  }

  async #ask(name: string, question: Question): Promise<void> {
    const node = this.#deps.nodes.get(name);
    if (node?.metadata?.uid !== question.uid || !isBackEnd(node, this.#provider)) return this.forget(name);
    const answer = await this.#answerOf(node);
    if (this.#signal.aborted || this.#questions.get(name) !== question) return;
    const { state } = question;
    if (isNoMachine(answer)) question.state = 'held';
    else if (answer.kind === 'failed' && state === 'new') question.state = 'counts';
    if (answer.kind === 'found' || question.state !== state) this.#onChanged(name);
    if (this.#questions.get(name) !== question) return;
    if (isNoMachine(answer) && question.afterMs > FIRST_AGAIN_MS) this.#told.tell(node, UNCONFIRMED);
    if (!isCloudError(answer.kind === 'failed' && answer.error, 'unsupported')) this.#askLater(name, question);
  }

  async #answerOf(node: Node): Promise<InstanceResult> {
    const { clock, machines } = this.#deps;
    const what = `asking about the machine of node ${node.metadata?.name}`;
    try {
      return await withDeadline(
        { clock, timeoutMs: ANSWER_MS, what, signal: this.#signal },
        async (signal) => (await machines?.lookUp(refOfNode(node), signal)) ?? { kind: 'missing' },
      );
    } catch (error) {
      return { kind: 'failed', error: asError(error) };
    }
  }

  #askLater(name: string, question: Question): void {
    question.timer = this.#deps.clock.setTimer(question.afterMs, () => void this.#ask(name, question));
    question.afterMs = Math.min(LONGEST_AGAIN_MS, 2 * question.afterMs);
  }
}

/** The cloud has no such machine, or there can be none by this provider ID: who chose the ID may not have a better one by its being wrong. */
function isNoMachine(answer: InstanceResult): boolean {
  if (answer.kind !== 'failed') return answer.kind !== 'found';
  return isNoID(answer) || isCloudError(answer.error, 'conflict');
}

function isNoID(answer: InstanceResult): boolean {
  if (answer.kind !== 'failed') return false;
  return isCloudError(answer.error, 'invalid') || isCloudError(answer.error, 'implemented-elsewhere');
}

const UNCONFIRMED: EventNote = {
  type: 'Warning',
  reason: 'BackEndUnconfirmed',
  message:
    'The cloud has no machine with the provider ID of this node: it does not become a back end of load balancers. Check the provider ID, and which project, account or region the credentials see. To accept such nodes, set --unconfirmed-node-addresses.',
};
