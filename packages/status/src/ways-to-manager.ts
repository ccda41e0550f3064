/** How a page of a manager is asked for: directly, or through the proxy of the API server. Whichever shows it first is taken. */
import { messageOf, readPage } from '@outrigger/cloud-controller-manager';
import {
  isTransportError,
  withDeadline,
  type CallOptions,
  type Clock,
  type Pod,
  type Transport,
  type TransportRequest,
} from '@outrigger/kube';
import type { Fact, LeaderPage } from './cluster-facts.ts';
import { whyUnknown } from './read-cluster.ts';
import { shell } from './shell-command.ts';

/** Who can be reached answers in milliseconds; a packet that is dropped on its way would take the whole time that was given… */
const REACH_MS = 5_000;
/** …of which it gets a part at most: what the cluster says has to be told without the leader too. */
const REACH_SHARE = 1 / 3;

export interface Way {
  readonly name: string;
  readonly get: (path: string, signal: AbortSignal) => Promise<LeaderPage>;
  /** What to do about a page that is refused; '' where nothing is known. */
  readonly remedy: (page: LeaderPage) => string;
}

/** `url`: where the transport leads to. */
export function directWay(url: string, manager: Transport, call: CallOptions): Way {
  return {
    name: url,
    get: (path, signal) => readPage(manager, requestOf(path, { ...call, signal }), url),
    remedy: ({ status }) => STATUS_REMEDIES[status] ?? '',
  };
}

/** `namespace`: where the Pod does not say it. `transport`: to the API server. */
export function wayByProxy(pod: Pod, port: number, namespace: string, transport: Transport, call: CallOptions): Way {
  const { name = '', namespace: own = namespace } = pod.metadata ?? {};
  const proxy = `/api/v1/namespaces/${own}/pods/https:${name}:${port}/proxy`;
  return {
    name: `the proxy of the API server to Pod ${own}/${name}`,
    get: (path, signal) => readPage(transport, requestOf(`${proxy}${path}`, { ...call, signal })),
    remedy: ({ status, text }) => {
      if (status !== 401 && status !== 403) return '';
      // Said by the API server itself, of the user.
      if (text.includes('pods/proxy')) return `; grant the user get on pods/proxy in the namespace ${own}`;
      const forward = shell`kubectl -n ${own} port-forward pod/${name} ${port}`;
      return `; that proxy does not say who asks: ask the manager itself, with --server=https://127.0.0.1:${port} through ${forward}`;
    },
  };
}

/** Of the first way that shows it; else all that was said. */
export async function askFirst(
  ways: readonly Way[],
  path: string,
  { call, clock }: { readonly call: CallOptions; readonly clock: Clock },
): Promise<Fact<LeaderPage>> {
  const found = new AbortController();
  const tries = ways.map(async ({ get, name, remedy }) => {
    const deadline = {
      clock,
      timeoutMs: Math.min(REACH_MS, REACH_SHARE * (call.timeoutMs ?? Infinity)),
      what: `asking ${name}`,
    };
    const page = await withDeadline(deadline, (late) =>
      get(path, AbortSignal.any([late, found.signal, ...(call.signal ? [call.signal] : [])])),
    ).catch((error: unknown) => {
      const why = whyUnknown(error);
      throw new Error(`${why.includes(name) ? '' : `${name}: `}${why}${connectRemedy(error)}`, { cause: error });
    });
    // A health page that fails has 500 or 503, and says what fails. That there is no such page, or no such object, is an answer too.
    if (page.status === 200 || page.status === 404 || page.text.includes('[-]')) return page;
    const said = messageOf(page.text);
    throw new Error(`${name}: status ${page.status}${said && ` (${said})`}${remedy(page)}`);
  });
  try {
    return { value: await Promise.any(tries) };
  } catch (error) {
    const all = error instanceof AggregateError ? error.errors : [error];
    return { unknown: all.map((one) => whyUnknown(one)).join('; ') };
  } finally {
    found.abort(new DOMException('another way was faster', 'AbortError'));
  }
}

const STATUS_REMEDIES: Readonly<Record<number, string>> = {
  401: '; the manager cannot authenticate this user: a token or a client certificate of the cluster is needed',
  403: '; grant the user get on the nonResourceURLs /metrics and /explain/*',
};

function connectRemedy(error: unknown): string {
  if (isTransportError(error) && error.code === 'tls-untrusted')
    return '; name its authority with --certificate-authority';
  return '; run this where its address can be reached, or name another one with --server';
}

function requestOf(path: string, { signal, timeoutMs }: CallOptions): TransportRequest {
  const headers = { accept: '*/*' };
  return { method: 'GET', path, headers, signal, ...(timeoutMs !== undefined && { timeoutMs }) };
}
