/** The layer that stops a former leader at the door to the API server. */
import type { Leadership } from './leadership.ts';
import type { TransportLayer } from './transport.ts';

/**
 * Refuses (`NotLeaderError`, code `not-leader`) what would start after the leadership's deadline, aborts what is in flight
 * when the term ends, and lets `Leadership.release` wait for what is in flight. Reads are held to it too: a former leader
 * has no use for them.
 *
 * Put it **last** in the list of layers, next to the connection (`layers` of `createTransport`): a layer further in that waits (rate limit,
 * retry) would send after the question was asked. Not for the transport that the elector itself uses.
 */
export function fence(leadership: Pick<Leadership, 'guard' | 'perform'>): TransportLayer {
  // Callers have one signal for all that they do: joined once, not for each request.
  const joined = new WeakMap<AbortSignal, { readonly ended: AbortSignal; readonly both: AbortSignal }>();
  const join = (signal: AbortSignal, ended: AbortSignal): AbortSignal => {
    let known = joined.get(signal);
    if (known?.ended !== ended) joined.set(signal, (known = { ended, both: AbortSignal.any([signal, ended]) }));
    return known.both;
  };
  return (inner) => ({
    // In flight until the head of the answer: by then the write has happened. A watch is not waited for, but aborted.
    send: (request) =>
      leadership.perform((ended) =>
        inner.send({
          ...request,
          signal: request.signal ? join(request.signal, ended) : ended,
          // Asked again at the socket: the process may be stopped while the request waits for a connection.
          beforeSend: () => {
            request.beforeSend?.();
            leadership.guard();
          },
        }),
      ),
    [Symbol.asyncDispose]: () => inner[Symbol.asyncDispose](),
  });
}
