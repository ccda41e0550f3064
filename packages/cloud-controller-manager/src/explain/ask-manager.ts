/** One page of a manager, from outside. */
import { cutText } from '@outrigger/cloud-provider';
import {
  createTransport,
  isTransportError,
  type Clock,
  type ClusterConfig,
  type Transport,
  type TransportRequest,
  type TransportResponse,
} from '@outrigger/kube';
import { EXPLAIN_PATH } from './explain-page.ts';
import { explainedKinds, isExplainedKind } from './explanation.ts';

/** The list of 5,000 nodes that all wait has about two million, metrics of a large cluster less; whatever is longer is none of ours. */
const MOST_BYTES = 16_000_000;

/** Of what a manager or an API server says, in characters. */
const LONGEST_MESSAGE = 1_000;
/** Of what another server says. */
const LONGEST_LINE = 200;

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

/** Of a manager that answers, with another status than 200. */
export class PageError extends Error {
  override readonly name = 'PageError';
  readonly status: number;

  constructor(message: string, status: number) {
    super(message);
    this.status = status;
  }
}

/** Of an explanation. Throws an `Error` of one line for what is none: a name cannot lead to another page. */
export function explanationPath(kind: string, name: string): string {
  const segments = name.split('/');
  if (!isExplainedKind(kind) || segments.some((one) => ['', '.', '..'].includes(one))) {
    throw new Error(`expected ${explainedKinds.join(', ')} and a name, got ${JSON.stringify(`${kind} ${name}`)}`);
  }
  return `${EXPLAIN_PATH}${kind}/${segments.map(encodeURIComponent).join('/')}`;
}

/** What the page says, as JSON. `config.server` is the manager. Throws a `PageError` of one line for any other status than 200. */
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
  const page = await readPage(transport, { method: 'GET', path, signal, headers }, server);
  if (page.status === 304) return { body: undefined, etag };
  if (page.status === 200) return { body: JSON.parse(page.text), etag: page.headers['etag'] };
  const message = messageOf(page.text);
  const remedy = REMEDIES[message] ?? REMEDIES[page.status] ?? '';
  throw new PageError(`${server}: ${message} (${page.status})${remedy}`, page.status);
}

/** A whole page of a manager, whatever its status. `server`: the manager, where the transport leads to it directly; for messages. */
export async function readPage(
  transport: Transport,
  request: TransportRequest,
  server?: string,
): Promise<{ readonly status: number; readonly headers: TransportResponse['headers']; readonly text: string }> {
  const { body, headers, status } = await transport.send(request).catch((error: unknown) => {
    // The transport takes whoever it asks for an API server.
    if (server === undefined || !isTransportError(error) || error.code !== 'connection-refused') throw error;
    const text = `${server}: connection refused; is the manager running there, with this --secure-port?`;
    throw new Error(text, { cause: error });
  });
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of body) {
    bytes += chunk.length;
    if (bytes > MOST_BYTES) throw new Error(`the answer is longer than ${MOST_BYTES} bytes`);
    chunks.push(chunk);
  }
  return { status, headers, text: Buffer.concat(chunks).toString() };
}

/** Why a page has another status than 200. Managers answer with a `Status`; another server may say anything. */
export function messageOf(text: string): string {
  try {
    const { message } = JSON.parse(text) as { readonly message?: unknown };
    if (typeof message === 'string') return cutText(message, LONGEST_MESSAGE);
  } catch {
    // Not JSON: its first line will do.
  }
  return text.trim().split('\n', 1)[0]?.slice(0, LONGEST_LINE) ?? '';
}
