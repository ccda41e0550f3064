/** How the provider asks the cloud: every request through the host's `call`, every failure a `CloudError`. */
import { CloudError, ClusterPlace, errorCodeOfStatus, type CallContext } from '@outrigger/cloud-provider';
import type { CloudRequest, CloudResponse, SendToCloud } from './cloud-request.ts';

export class CloudClient {
  /** Which cloud is asked, and whether it is known to be the cluster's: another endpoint may be another cloud. */
  readonly home: ClusterPlace = new ClusterPlace({
    what: 'cloud',
    machine: 'instance',
    setBy: 'endpoint in the cloud config',
  });
  /** What instances of nodes are to have, by the config that leads here. */
  readonly nodeTags: Readonly<Record<string, string>>;
  readonly #send: SendToCloud;

  constructor(send: SendToCloud, place: string, nodeTags: Readonly<Record<string, string>> = {}) {
    this.home.admit(place);
    this.#send = send;
    this.nodeTags = nodeTags;
  }

  /** The answer's body. `name` is the metric label: no IDs in it. */
  async request<T>(call: CallContext, name: string, request: CloudRequest): Promise<T> {
    return call.call({ name, idempotent: true }, async (signal) => {
      const response = await this.#send(request, signal);
      if (response.status >= 400) throw errorOf(name, response);
      return response.body as T;
    });
  }
}

/** Over HTTP. */
export function sendOverHttp(endpoint: string): SendToCloud {
  return async ({ method, path, body }, signal) => {
    let answer: HttpAnswer;
    try {
      answer = await exchange(`${endpoint}${path}`, method, body === undefined ? '' : JSON.stringify(body), signal);
    } catch (error) {
      signal.throwIfAborted();
      throw new CloudError('unavailable', `the cloud at ${endpoint} could not be reached`, { cause: error });
    }
    const { retryAfter, status, text } = answer;
    return {
      status,
      retryAfterSeconds: retryAfter === undefined ? undefined : Number(retryAfter),
      body: status < 300 ? parse(endpoint, text) : parseRefusal(text),
    };
  };
}

interface HttpAnswer {
  readonly status: number;
  readonly retryAfter: string | undefined;
  readonly text: string;
}

/** Neither by `fetch` nor by an import of `node:http`: both load Node's copy of undici, which takes 6 MiB. */
function exchange(url: string, method: string, body: string, signal: AbortSignal): Promise<HttpAnswer> {
  const { request } = process.getBuiltinModule(url.startsWith('https:') ? 'node:https' : 'node:http');
  const headers = { 'content-type': 'application/json' };
  return new Promise((resolve, reject) => {
    request(url, { method, headers, signal }, (response) => {
      const { headers: answered, statusCode: status = 0 } = response;
      let text = '';
      response
        .setEncoding('utf8')
        .on('data', (part: string) => (text += part))
        .once('end', () => resolve({ status, retryAfter: answered['retry-after'], text }))
        .once('error', reject);
    })
      .once('error', reject)
      .end(body);
  });
}

function parse(endpoint: string, text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new CloudError('unavailable', `the cloud at ${endpoint} answered something that is not JSON`, {
      cause: error,
    });
  }
}

/** A proxy's page says nothing, and its status all: a 429 is one, also in HTML. */
function parseRefusal(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function errorOf(name: string, { status, retryAfterSeconds, body }: CloudResponse): CloudError {
  const { code, message } = (body ?? {}) as { code?: string; message?: string };
  const known = code === 'quota' ? 'quota' : errorCodeOfStatus(status);
  // A 404 of a path, or by a fault, is not the cloud's word about the thing that was asked for.
  const certain = known === 'not-found' && code !== 'not-found' ? 'unavailable' : known;
  const retryAfterMs = retryAfterSeconds === undefined ? undefined : retryAfterSeconds * 1000;
  // What the cloud refuses it has not begun.
  const effect = status < 500 && status !== 408 ? 'none' : 'unknown';
  return new CloudError(certain, `${name}: ${message ?? 'refused'} (${status})`, { effect, retryAfterMs });
}
