/** Ranges are given to machines in batches: requests gather while one batch is under way. */
import {
  asError,
  CloudError,
  type PodRangeRequest,
  type PodRangeResult,
  type PodRanges,
} from '@outrigger/cloud-provider';
import { batchSizeOf, callInTime, type MakeCallContext } from '@outrigger/cloud-runtime';
import type { Clock } from '@outrigger/kube';

/** One batch. A request that takes longer holds up those behind it. */
const DEADLINE_MS = 60_000;

interface Waiting {
  readonly request: PodRangeRequest;
  readonly resolve: (result: PodRangeResult) => void;
}

export interface PodRangeBatchesOptions {
  readonly podRanges: PodRanges;
  readonly callContext: MakeCallContext;
  readonly clock: Clock;
  /** Ends the calls; those who wait are told `failed`. */
  readonly signal: AbortSignal;
}

export class PodRangeBatches {
  readonly #options: PodRangeBatchesOptions;
  #waiting: Waiting[] = [];
  #isSending = false;

  constructor(options: PodRangeBatchesOptions) {
    this.#options = options;
  }

  /** Never rejects: whatever goes wrong is `failed`. */
  assign(request: PodRangeRequest): Promise<PodRangeResult> {
    return new Promise((resolve) => {
      this.#waiting.push({ request, resolve });
      void this.#send();
    });
  }

  async #send(): Promise<void> {
    if (this.#isSending) return;
    this.#isSending = true;
    // In the next turn: those that are asked for in this one go together.
    await Promise.resolve();
    while (this.#waiting.length > 0) {
      const batch = this.#waiting.splice(0, batchSizeOf(this.#options.podRanges));
      const results = await this.#results(batch.map(({ request }) => request));
      for (const [i, { resolve }] of batch.entries()) resolve(results[i] ?? noResult);
    }
    this.#isSending = false;
  }

  async #results(requests: readonly PodRangeRequest[]): Promise<readonly PodRangeResult[]> {
    const { callContext, clock, podRanges, signal } = this.#options;
    const what = `assigning pod CIDRs to ${requests.length} machines`;
    const late = `${what}: the cloud has not answered within ${DEADLINE_MS} ms`;
    const about = requests.map(({ node }) => node.uid);
    try {
      const results = await callInTime({ clock, timeoutMs: DEADLINE_MS, what, signal, late }, (either) =>
        podRanges.assign(requests, callContext({ signal: either, priority: 'normal', about })),
      );
      // A wrong count would shift them to other nodes.
      return results.length === requests.length ? results : [];
    } catch (thrown) {
      const error = asError(thrown);
      return requests.map(() => ({ kind: 'failed', error }));
    }
  }
}

const noResult: PodRangeResult = {
  kind: 'failed',
  error: new CloudError(
    'invalid',
    'the provider returned fewer or more results than there were requests; they are ignored',
  ),
};
