/** Tells subscribers of the tracing channel `outrigger:kube:request` of each attempt. Costs nothing without them. */
import { tracingChannel } from 'node:diagnostics_channel';
import type { TrafficClass, TransportLayer, TransportRequest } from '../transport.ts';
import { layerOver } from './transport-layer.ts';

/** The name of the tracing channel. */
export const REQUEST_CHANNEL = 'outrigger:kube:request';

/** The context of the channel's events. `status` is set when an answer came. Holds no headers and no bodies. */
export interface RequestTrace {
  readonly server: string;
  readonly method: TransportRequest['method'];
  readonly path: string;
  readonly traffic: TrafficClass;
  status?: number;
}

export function withTracing(server: string): TransportLayer {
  const channel = tracingChannel<object, RequestTrace>(REQUEST_CHANNEL);
  return (inner) =>
    layerOver(inner, (request) => {
      if (!channel.hasSubscribers) return inner.send(request);
      const { method, path, traffic = 'default' } = request;
      const trace: RequestTrace = { server, method, path, traffic };
      return channel.tracePromise(async () => {
        const answer = await inner.send(request);
        trace.status = answer.status;
        return answer;
      }, trace);
    });
}
