/** One page of a manager, from outside. */
import { createTransport, isTransportError, type Clock, type ClusterConfig, type Transport } from '@outrigger/kube';
import { EXPLAIN_PATH } from './explain-page.ts';

/** The list of 5,000 nodes that all wait has about two million; whatever is longer is none of ours. */
const MOST_BYTES = 16_000_000;

/** Of a path that is not served; what is served, and knows no such object, says so. */
const NO_PAGE = '404 page not found';

const REMEDIES: Readonly<Record<string, string>> = {
  [NO_PAGE]: '; the manager runs with --profiling=false, or has another version than this command',
  401: '; give --token-file or --kubeconfig, with a user that the manager can authenticate',
  403: `; grant the user get on the nonResourceURLs ${EXPLAIN_PATH}*`,
};

export interface AskOptions {
  readonly signal: AbortSignal;
  /** Of the page as the caller has it. */
  readonly etag?: string | undefined;
}

export interface AskedPage {
  /** JSON. `undefined`: the page is as the caller has it. */
  readonly body: unknown;
  readonly etag: string | undefined;
}

/** What the page says, as JSON. `config.server` is the manager. Throws an `Error` of one line for any other status than 200. */
export async function askManager(
  config: ClusterConfig,
  path: string,
  { clock, signal }: { readonly clock: Clock; readonly signal: AbortSignal },
): Promise<unknown> {
  await using transport = createTransport(config, { clock, retry: false });
  return (await askPage(transport, config.server, path, { signal })).body;
}

/** The same over a connection that stays: for whoever asks again and again. `server`: for messages. */
export async function askPage(
  transport: Transport,
  server: string,
  path: string,
  { etag, signal }: AskOptions,
): Promise<AskedPage> {
  const headers = etag === undefined ? {} : { 'if-none-match': etag };
  const answer = await transport.send({ method: 'GET', path, signal, headers }).catch((error: unknown) => {
    // The transport takes whoever it asks for an API server.
    if (!isTransportError(error) || error.code !== 'connection-refused') throw error;
    const text = `${server}: connection refused; is the manager running there, with this --secure-port?`;
    throw new Error(text, { cause: error });
  });
  const text = await textOf(answer.body);
  if (answer.status === 304) return { body: undefined, etag };
  if (answer.status === 200) return { body: JSON.parse(text), etag: answer.headers['etag'] };
  const message = messageOf(text);
  throw new Error(`${server}: ${message} (${answer.status})${REMEDIES[message] ?? REMEDIES[answer.status] ?? ''}`);
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
