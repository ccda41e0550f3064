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
 * From the answer of one try of a machine to the next, whatever the cloud shows: what it shows may be from before, and another program may
 * set the same tags. Less than the default `--node-status-update-frequency`, so that each refresh tries again.
 */
const AGAIN_MS = 240_000;

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
  /** By UID of the node: from when on its machine is tried again; monotonic. `Infinity`: a try is under way. */
  readonly #again = new Map<string, number>();

  constructor(options: MachineTagsOptions) {
    this.#options = options;
    this.#batches = new RequestBatches({
      ...options,
      what: 'tagging',
      send: async (asked, call) =>
        (await options.provider.capabilities.nodeTags?.put(
          asked.map(({ node }) => node),
          call,
        )) ?? [],
      callContext: (wanted) => options.provider.callContext(wanted),
    });
  }

  async put(node: Node, action: TagMachine): Promise<void> {
    const { clock, journal, signal, told } = this.#options;
    const ref = { ...refOfNode(node), providerID: action.providerID };
    if (clock.monotonic() < (this.#again.get(ref.uid) ?? 0)) return;
    // A slow cloud may take longer for those before it.
    this.#again.set(ref.uid, Infinity);
    const result = await this.#batches.add({ node: ref });
    // The end, or the node is gone.
    if (signal.aborted || !this.#again.has(ref.uid)) return;
    this.#again.set(ref.uid, clock.monotonic() + AGAIN_MS);
    const failed = result.kind === 'failed' ? result : undefined;
    journal.note(subjectOf('Node', node), notedWrites([action]), failed);
    if (failed) {
      told.tell(node, {
        type: 'Warning',
        reason: 'FailedToTagMachine',
        message: `The machine was not tagged: ${reasonOf(failed.error)}. A later refresh tries again. Check that the credentials may write tags.`,
      });
    }
  }

  forget(uid: string): void {
    this.#again.delete(uid);
  }
}
