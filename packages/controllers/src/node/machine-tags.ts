/** Puts the tags that the cloud config asks for on the machines of nodes, in batches; no worker waits for it. */
import type { NodeRef, NodeTagResult } from '@outrigger/cloud-provider';
import type { OpenedProvider } from '@outrigger/cloud-runtime';
import type { Clock, Node } from '@outrigger/kube';
import { subjectOf, type ControllerJournal } from '../journal.ts';
import { reasonOf } from '../load-balancer/failure.ts';
import { refOfNode } from '../node-ref.ts';
import { RequestBatches } from '../request-batches.ts';
import type { ToldEvents } from '../told-events.ts';
import type { TagMachine } from './actions.ts';
import { notedWrites } from './node-words.ts';

/**
 * From one try of a machine to the next, whatever the cloud shows: what it shows may be from before, and another program may set the same
 * tags.
 */
const AGAIN_MS = 300_000;

export interface MachineTagsOptions {
  readonly provider: Pick<OpenedProvider, 'callContext' | 'capabilities'>;
  readonly clock: Clock;
  readonly journal: ControllerJournal;
  readonly signal: AbortSignal;
  readonly told: ToldEvents;
}

export class MachineTags {
  readonly #options: MachineTagsOptions;
  readonly #batches: RequestBatches<{ readonly node: NodeRef }, NodeTagResult>;
  /** By UID of the node: before when its machine is not tried again; monotonic. */
  readonly #notBefore = new Map<string, number>();

  constructor(options: MachineTagsOptions) {
    const { provider } = options;
    this.#options = options;
    this.#batches = new RequestBatches({
      ...options,
      what: 'putting tags on',
      send: async (asked, call) =>
        (await provider.capabilities.nodeTags?.put(
          asked.map(({ node }) => node),
          call,
        )) ?? [],
      callContext: (wanted) => provider.callContext(wanted),
    });
  }

  async put(node: Node, action: TagMachine): Promise<void> {
    const { clock, journal, signal, told } = this.#options;
    const ref = { ...refOfNode(node), providerID: action.providerID };
    const now = clock.monotonic();
    if (now < (this.#notBefore.get(ref.uid) ?? 0)) return;
    this.#notBefore.set(ref.uid, now + AGAIN_MS);
    const result = await this.#batches.add({ node: ref });
    if (signal.aborted) return;
    journal.note(subjectOf('Node', node), notedWrites([action]), result.kind === 'failed' ? result : undefined);
    if (result.kind === 'done') return;
    const message = `The machine was not given its tags: ${reasonOf(result.error)}. The next try is in 5 minutes.`;
    told.tell(node, { type: 'Warning', reason: 'FailedToTagMachine', message });
  }

  forget(uid: string): void {
    this.#notBefore.delete(uid);
  }
}
