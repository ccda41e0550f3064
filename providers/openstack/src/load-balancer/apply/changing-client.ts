/** The client of one action, which remembers whether any of its requests changed something. */
import { CloudError, effectOf, isCloudError, type CallContext } from '@outrigger/cloud-provider';
import type { ApiRequest } from '../../client/api-client.ts';
import { ForwardingClient } from '../../client/forwarding-client.ts';

export class ChangingClient extends ForwardingClient {
  #changed = false;

  override async request<T>(call: CallContext, request: ApiRequest): Promise<T> {
    if (request.method === 'GET') return super.request<T>(call, request);
    try {
      const answer = await super.request<T>(call, request);
      this.#changed = true;
      return answer;
    } catch (error) {
      if (effectOf(error) === 'unknown') this.#changed = true;
      throw error;
    }
  }

  /** The error, with an effect that speaks of all requests: the one that failed need not be the first. */
  ofAll(error: unknown): unknown {
    if (!this.#changed || effectOf(error) === 'unknown' || !isCloudError(error)) return error;
    const { code, message, retryAfterMs } = error;
    return new CloudError(code, message, { cause: error, effect: 'unknown', retryAfterMs });
  }
}
