import { request } from 'node:https';
import { ControlPlaneError } from './control-plane-error.ts';
import type { KubeconfigCredential } from './kubeconfig.ts';

export interface ApiEndpoint {
  readonly server: string;
  readonly certificateAuthority: string;
  readonly credential: KubeconfigCredential;
}

export interface ApiCall {
  readonly method?: 'GET' | 'POST';
  readonly path: string;
  readonly body?: unknown;
  readonly signal?: AbortSignal | undefined;
}

export interface ApiAnswer {
  readonly status: number;
  readonly text: string;
}

/** One request on a connection of its own. The test environment looks after itself without the client that it tests. */
export function askApiServer(endpoint: ApiEndpoint, call: ApiCall): Promise<ApiAnswer> {
  const { credential } = endpoint;
  const body = call.body === undefined ? undefined : JSON.stringify(call.body);
  return new Promise((resolve, reject) => {
    const outgoing = request(
      new URL(call.path, endpoint.server),
      {
        method: call.method ?? 'GET',
        agent: false,
        ca: endpoint.certificateAuthority,
        headers: {
          accept: 'application/json',
          'user-agent': 'outrigger-testing',
          ...(body !== undefined && { 'content-type': 'application/json' }),
          ...('token' in credential && { authorization: `Bearer ${credential.token}` }),
        },
        ...('certificate' in credential && { cert: credential.certificate, key: credential.key }),
        ...(call.signal && { signal: call.signal }),
      },
      (response) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.on('error', reject);
        response.on('end', () =>
          resolve({ status: response.statusCode ?? 0, text: Buffer.concat(chunks).toString('utf8') }),
        );
      },
    );
    outgoing.on('error', reject);
    outgoing.end(body);
  });
}

/** As `askApiServer`; any status of 400 and above, other than those in `accept`, is thrown as `control-plane-request`. */
export async function askForJson(
  endpoint: ApiEndpoint,
  call: ApiCall & { readonly accept?: readonly number[] },
): Promise<unknown> {
  const answer = await askApiServer(endpoint, call);
  if (answer.status >= 400 && !call.accept?.includes(answer.status)) {
    const what = `${call.method ?? 'GET'} ${call.path}`;
    throw new ControlPlaneError('control-plane-request', `${what}: ${answer.status} ${answer.text.slice(0, 500)}`);
  }
  return JSON.parse(answer.text);
}
