/** Ranges are given to machines in batches: requests gather while one batch is under way. */
import type { CallContext, PodRangeRequest, PodRangeResult, PodRanges } from '@outrigger/cloud-provider';

interface Waiting {
  readonly request: PodRangeRequest;
  readonly resolve: (result: PodRangeResult) => void;
}

export interface PodRangeBatchesOptions {
  readonly podRanges: PodRanges;
  /** `about`: UIDs of the nodes. */
  readonly callContext: (about: readonly string[]) => CallContext;
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
      const batch = this.#waiting.splice(0, this.#options.podRanges.batchSize);
      const results = await this.#results(batch.map(({ request }) => request));
      for (const [i, { resolve }] of batch.entries()) resolve(results[i] ?? noResult);
    }
    this.#isSending = false;
  }

  async #results(requests: readonly PodRangeRequest[]): Promise<readonly PodRangeResult[]> {
    try {
      const context = this.#options.callContext(requests.map(({ node }) => node.uid));
      const results = await this.#options.podRanges.assign(requests, context);
      // A wrong count would shift them to other nodes.
      return results.length === requests.length ? results : [];
    } catch (thrown) {
      const error = thrown instanceof Error ? thrown : new Error(String(thrown));
      return requests.map(() => ({ kind: 'failed', error }));
    }
  }
}

const noResult: PodRangeResult = {
  kind: 'failed',
  error: new Error('the provider gave fewer or more results than it got requests; nothing is concluded from them'),
};
