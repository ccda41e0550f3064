import { AnswerEncodings } from './answer-encodings.ts';
import type { CallOptions, Client, ResourceClient } from './client.ts';
import type { KubeObject } from './kube-object.ts';
import { createSend, HttpResourceClient, type WarningHook } from './resource-client.ts';
import type { Resource } from './resource.ts';
import { readJson } from './response-body.ts';
import type { Transport } from './transport.ts';

export interface ClientOptions {
  /** Called with each warning that the server sends: deprecated versions, unknown fields. Default: they are dropped. */
  readonly onWarning?: WarningHook;
}

/** A client of the API server behind `transport`. The transport stays the caller's to close. */
export function createClient(transport: Transport, options: ClientOptions = {}): Client {
  const send = createSend(transport, options.onWarning);
  const encodings = new AnswerEncodings();
  return {
    of: <T extends KubeObject>(resource: Resource<T>): ResourceClient<T> =>
      new HttpResourceClient(resource, send, encodings),
    async raw(path: string, call: CallOptions & { readonly accept?: string } = {}): Promise<unknown> {
      const response = await send({
        method: 'GET',
        path,
        headers: { accept: call.accept ?? 'application/json' },
        ...(call.traffic && { traffic: call.traffic }),
        ...(call.timeoutMs !== undefined && { timeoutMs: call.timeoutMs }),
        signal: call.signal,
      });
      const json = response.headers['content-type']?.includes('json') ?? false;
      if (json) return readJson(`GET ${path}`, response);
      const chunks: Uint8Array[] = [];
      for await (const chunk of response.body) chunks.push(chunk);
      return Buffer.concat(chunks).toString();
    },
  };
}
