/** Counts requests and the time to their answers, under upstream's names. */
import type { Clock } from '../clock.ts';
import type { Metrics } from '../metrics.ts';
import type { TransportLayer } from '../transport.ts';
import { REQUEST_BUCKETS } from './request-buckets.ts';
import { layerOver } from './transport-layer.ts';

export interface TransportMetricsOptions {
  readonly metrics: Metrics;
  readonly clock: Clock;
  /** `host:port`. */
  readonly host: string;
}

/** Upstream's bounds: 64 bytes to 16 MiB. */
const SIZE_BUCKETS = [64, 256, 512, 1024, 4096, 16_384, 65_536, 262_144, 1_048_576, 4_194_304, 16_777_216];

/** Each attempt counts. `code` is the status, or `<error>` when no answer came, as upstream. */
export function withMetrics(options: TransportMetricsOptions): TransportLayer {
  const { metrics, clock, host } = options;
  const requests = metrics.counter({
    name: 'rest_client_requests_total',
    help: 'Number of HTTP requests, partitioned by status code, method, and host.',
    labels: ['code', 'method', 'host'],
  });
  const duration = metrics.histogram({
    name: 'rest_client_request_duration_seconds',
    help: 'Request latency in seconds. Broken down by verb, and host.',
    labels: ['verb', 'host'],
    buckets: REQUEST_BUCKETS,
  });
  const requestSize = metrics.histogram({
    name: 'rest_client_request_size_bytes',
    help: 'Request size in bytes. Broken down by verb and host.',
    labels: ['verb', 'host'],
    buckets: SIZE_BUCKETS,
  });
  const responseSize = metrics.histogram({
    name: 'rest_client_response_size_bytes',
    help: 'Response size in bytes. Broken down by verb and host.',
    labels: ['verb', 'host'],
    buckets: SIZE_BUCKETS,
  });
  return (inner) =>
    layerOver(inner, async (request) => {
      const start = clock.monotonic();
      let code = '<error>';
      const labels = { verb: request.method, host };
      if (request.body !== undefined) requestSize.observe(Buffer.byteLength(request.body), labels);
      try {
        const answer = await inner.send(request);
        code = String(answer.status);
        // The size of a watch says how long it lasted.
        if (request.traffic === 'watch') return answer;
        return { ...answer, body: measured(answer.body, (bytes) => responseSize.observe(bytes, labels)) };
      } finally {
        requests.inc({ code, method: request.method, host });
        duration.observe((clock.monotonic() - start) / 1000, labels);
      }
    });
}

/**
 * The same body; `onEnd` is told its length when it has been read whole. Not a generator: returning from one that was never
 * started would not reach `body`, whose stream would stay open.
 */
function measured(body: AsyncIterable<Uint8Array>, onEnd: (bytes: number) => void): AsyncIterable<Uint8Array> {
  return {
    [Symbol.asyncIterator]: () => {
      const chunks = body[Symbol.asyncIterator]();
      let bytes = 0;
      return {
        async next() {
          const step = await chunks.next();
          if (step.done) onEnd(bytes);
          else bytes += step.value.byteLength;
          return step;
        },
        return: async () => (await chunks.return?.()) ?? { done: true, value: undefined },
      };
    },
  };
}
