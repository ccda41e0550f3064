/** One page of a manager, from outside. */
import { createTransport, isTransportError, type Clock, type ClusterConfig } from '@outrigger/kube';
import { EXPLAIN_PATH } from './explain-page.ts';

/** A page is small; whatever is longer is none of ours. */
const MOST_BYTES = 4_000_000;

/** Of a path that is not served; what is served, and knows no such object, says so. */
const NO_PAGE = '404 page not found';

const REMEDIES: Readonly<Record<string, string>> = {
  [NO_PAGE]: '; the manager runs with --profiling=false, or has another version than this command',
  401: '; give --token-file or --kubeconfig, with a user that the manager can authenticate',
  403: `; grant the user get on the nonResourceURLs ${EXPLAIN_PATH}*`,
};

/** What the page says, as JSON. `config.server` is the manager. Throws an `Error` of one line for any other status than 200. */
export async function askManager(
  config: ClusterConfig,
  path: string,
  { clock, signal }: { readonly clock: Clock; readonly signal: AbortSignal },
): Promise<unknown> {
  await using transport = createTransport(config, { clock, retry: false });
  const { body, status } = await transport.send({ method: 'GET', path, signal }).catch((error: unknown) => {
    // The transport takes whoever it asks for an API server.
    if (!isTransportError(error) || error.code !== 'connection-refused') throw error;
    const text = `${config.server}: connection refused; is the manager running there, with this --secure-port?`;
    throw new Error(text, { cause: error });
  });
  const text = await textOf(body);
  if (status === 200) return JSON.parse(text);
  const message = messageOf(text);
  throw new Error(`${config.server}: ${message} (${status})${REMEDIES[message] ?? REMEDIES[status] ?? ''}`);
}

async function textOf(body: AsyncIterable<Uint8Array>): Promise<string> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of body) {
    bytes += chunk.length;
    if (bytes > MOST_BYTES) throw new Error(`the answer is longer than ${MOST_BYTES} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString();
}

/** Managers answer with a `Status`; another server may say anything. */
function messageOf(text: string): string {
  try {
    const { message } = JSON.parse(text) as { readonly message?: unknown };
    if (typeof message === 'string') return message;
  } catch {
    // Not JSON: its first line will do.
  }
  return text.trim().split('\n', 1)[0] ?? '';
}
