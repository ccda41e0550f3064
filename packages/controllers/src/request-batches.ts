/** What a cloud is asked to do for machines is asked in batches: requests gather while one batch is under way. */
import { asError, CloudError, type CallContext, type NodeRef } from '@outrigger/cloud-provider';
import { batchSizeOf, callInTime, type MakeCallContext } from '@outrigger/cloud-runtime';
import type { Clock } from '@outrigger/kube';

/** One batch. A request that takes longer holds up those behind it. */
const DEADLINE_MS = 60_000;

/** What came of a request of which nothing better is known. */
interface Failed {
  readonly kind: 'failed';
  readonly error: Error;
}

interface Waiting<Q, A> {
  readonly request: Q;
  readonly resolve: (result: A | Failed) => void;
}

export interface RequestBatchesOptions<Q, A> {
  /** For errors: `assigning pod CIDRs to`. */
  readonly what: string;
  /** Most that one `send` takes. Default: 100. */
  readonly batchSize?: number | undefined;
  /** One result for each request, in the same order. */
  readonly send: (requests: readonly Q[], call: CallContext) => Promise<readonly A[]>;
  readonly callContext: MakeCallContext;
  readonly clock: Clock;
  /** Ends the calls; those who wait are told `failed`. */
  readonly signal: AbortSignal;
}

export class RequestBatches<Q extends { readonly node: NodeRef }, A extends { readonly kind: string }> {
  readonly #options: RequestBatchesOptions<Q, A>;
  #waiting: Waiting<Q, A>[] = [];
  #isSending = false;

  constructor(options: RequestBatchesOptions<Q, A>) {
    this.#options = options;
  }

  /** Never rejects: whatever goes wrong is `failed`. */
  add(request: Q): Promise<A | Failed> {
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
      const batch = this.#waiting.splice(0, batchSizeOf(this.#options));
      const results = await this.#results(batch.map(({ request }) => request));
      for (const [i, { resolve }] of batch.entries()) resolve(results[i] ?? noResult);
    }
    this.#isSending = false;
  }

  async #results(requests: readonly Q[]): Promise<readonly (A | Failed)[]> {
    const { callContext, clock, send, signal } = this.#options;
    const what = `${this.#options.what} ${requests.length} machines`;
    const late = `${what}: the cloud has not answered within ${DEADLINE_MS} ms`;
    const about = requests.map(({ node }) => node.uid);
    try {
      const results = await callInTime(
        { clock, timeoutMs: DEADLINE_MS, what, signal, late },
        (either) => callContext({ signal: either, priority: 'normal', about }),
        (call) => send(requests, call),
      );
      // A wrong count would shift them to other nodes.
      return results.length === requests.length ? results : [];
    } catch (thrown) {
      const error = asError(thrown);
      return requests.map(() => ({ kind: 'failed', error }));
    }
  }
}

const noResult: Failed = {
  kind: 'failed',
  error: new CloudError('invalid', 'the provider returned fewer or more results than requests; they are ignored'),
};
