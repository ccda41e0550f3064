/** A transport that answers from a script, for the tests of layers. */
import type { Transport, TransportRequest, TransportResponse } from '../transport.ts';

export interface ScriptedTransport extends Transport {
  readonly requests: TransportRequest[];
  /** Bodies that were read to their end or returned from. */
  readonly settled: number;
}

/** Answers the n-th request with the n-th entry, later ones with the last; an `Error` is thrown. */
export function scriptedTransport(
  script: readonly (Error | { readonly status: number; readonly headers?: Record<string, string> })[],
): ScriptedTransport {
  const requests: TransportRequest[] = [];
  let settled = 0;
  return {
    requests,
    get settled() {
      return settled;
    },
    send: (request): Promise<TransportResponse> => {
      const entry = script[Math.min(requests.length, script.length - 1)];
      requests.push(request);
      if (!entry || entry instanceof Error) return Promise.reject(entry ?? new Error('no script'));
      const body = (async function* () {
        try {
          yield Buffer.from('{}');
        } finally {
          settled += 1;
        }
      })();
      return Promise.resolve({ status: entry.status, headers: entry.headers ?? {}, body });
    },
    [Symbol.asyncDispose]: () => Promise.resolve(),
  };
}
