/** Carries out what is planned about pod CIDRs: writes to nodes, and assignments to their machines in batches. */
import type { PodRangeRequest, PodRangeResult, PodRanges } from '@outrigger/cloud-provider';
import type { MakeCallContext } from '@outrigger/cloud-runtime';
import {
  isConflict,
  isInvalid,
  isNotFound,
  type Clock,
  type Logger,
  type Node,
  type Patch,
  type ResourceClient,
} from '@outrigger/kube';
import { subjectOf, type ControllerJournal } from '../journal.ts';
import { reasonOf } from '../load-balancer/failure.ts';
import { statusPatch } from '../node/node-patch.ts';
import { refOfNode } from '../node-ref.ts';
import { RequestBatches } from '../request-batches.ts';
import { routeCondition } from '../route/network-condition.ts';
import type { ToldEvents } from '../told-events.ts';
import type { WrittenVersions } from '../written-versions.ts';
import { summaryOf, type CloudRangesAction } from './cloud-ranges-plan.ts';
import { FIELD_MANAGER } from './other-allocator.ts';
import { podCidrPatch, WRITE_TIMEOUT_MS } from './pod-cidr-patch.ts';

export interface CloudRangesWritesOptions {
  readonly nodes: ResourceClient<Node>;
  /** With direction `to-cloud`. */
  readonly podRanges: PodRanges | undefined;
  readonly callContext: MakeCallContext;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Ends all requests to the cloud. */
  readonly signal: AbortSignal;
  readonly journal: ControllerJournal;
  readonly told: ToldEvents;
  /** Is told of each write to a node. */
  readonly written: WrittenVersions;
}

export class CloudRangesWrites {
  readonly #options: CloudRangesWritesOptions;
  readonly #batches: RequestBatches<PodRangeRequest, PodRangeResult> | undefined;

  constructor(options: CloudRangesWritesOptions) {
    const { callContext, clock, podRanges, signal } = options;
    this.#options = options;
    this.#batches =
      podRanges &&
      new RequestBatches({
        what: 'assigning pod CIDRs to',
        batchSize: podRanges.batchSize,
        send: (requests, call) => podRanges.assign(requests, call),
        callContext,
        clock,
        signal,
      });
  }

  /** Returns whether it was done. Throws when it is to be tried again. */
  async carryOut(node: Node, action: CloudRangesAction, signal: AbortSignal): Promise<boolean> {
    const { name = '' } = node.metadata ?? {};
    const patch = this.#patchOf(node, action);
    const noted = { kind: action.kind, summary: summaryOf(action), write: { object: node, patch } };
    const write = (): Promise<true> => this.#write(node, action, patch, signal);
    try {
      return (await this.#options.journal.perform(subjectOf('Node', node), [noted], write)) ?? false;
    } catch (error) {
      if (action.kind === 'assign-in-cloud') {
        const message = `The pod CIDR ${action.podCidrs.join(', ')} of the node could not be assigned to its machine: ${reasonOf(error as Error)}`;
        if (this.#options.told.tell(node, { type: 'Warning', reason: 'FailedToAssignPodCIDR', message }))
          this.#options.logger.warn(message, { node: name, error });
        return false;
      }
      // Another node by now, none, or one that has pod CIDRs already: the store will say so.
      if (isConflict(error) || isInvalid(error) || isNotFound(error)) return false;
      throw error;
    }
  }

  #patchOf(node: Node, action: CloudRangesAction): Patch | undefined {
    if (action.kind === 'assign-in-cloud') return undefined;
    if (action.kind === 'set-pod-cidrs') return podCidrPatch(node.metadata?.uid ?? '', action.podCidrs);
    const network = { ...routeCondition(true, this.#options.clock.now()), message: 'The cloud routes the pod CIDR' };
    return statusPatch(node, { kind: 'patch-status', conditions: [network] });
  }

  async #write(node: Node, action: CloudRangesAction, patch: Patch | undefined, signal: AbortSignal): Promise<true> {
    const { name = '' } = node.metadata ?? {};
    if (action.kind === 'assign-in-cloud') {
      const result = await this.#batches?.add({ node: refOfNode(node), podCidrs: action.podCidrs });
      if (result?.kind === 'failed') throw result.error;
    }
    if (!patch) return true;
    const { metadata } = await this.#options.nodes.patch(
      { name },
      patch,
      action.kind === 'set-pod-cidrs'
        ? { fieldManager: FIELD_MANAGER, answer: 'metadata', timeoutMs: WRITE_TIMEOUT_MS }
        : { subresource: 'status', answer: 'metadata', signal },
    );
    this.#options.written.note(name, metadata);
    return true;
  }
}
