/** What a control plane for tests asks of its etcd, over the JSON gateway (https://etcd.io/docs/v3.6/dev-guide/api_grpc_gateway/). */

/** A transaction has no more operations: etcd's `--max-txn-ops`. */
const MOST_OPERATIONS = 128;
/** All keys of the API server: `/registry/` and what follows it. */
const REGISTRY = { key: btoa('/registry/'), range_end: btoa('/registry0') };

interface Header {
  readonly header: { readonly revision: string };
}

/** The present revision. */
export async function etcdRevision(url: string): Promise<string> {
  // Any key will do; the answer's header has the revision.
  const { header } = await ask<Header>(url, '/v3/kv/range', { key: btoa('\0'), limit: '1' });
  return header.revision;
}

/** Compacts to the present revision: reads and watches of any revision before it are refused from now on. */
export async function compactEtcd(url: string): Promise<void> {
  await ask(url, '/v3/kv/compaction', { revision: await etcdRevision(url), physical: true });
}

/** Removes what was made after a revision, whatever its finalizers say. What was there before stays as it is now. */
export async function removeMadeAfter(url: string, revision: string): Promise<void> {
  const { kvs = [] } = await ask<{ readonly kvs?: readonly { readonly key: string }[] }>(url, '/v3/kv/range', {
    ...REGISTRY,
    keys_only: true,
    min_create_revision: String(BigInt(revision) + 1n),
  });
  for (let start = 0; start < kvs.length; start += MOST_OPERATIONS) {
    const success = kvs.slice(start, start + MOST_OPERATIONS).map(({ key }) => ({ request_delete_range: { key } }));
    await ask(url, '/v3/kv/txn', { success });
  }
}

async function ask<T>(url: string, path: string, body: unknown): Promise<T> {
  const answer = await fetch(`${url}${path}`, { method: 'POST', body: JSON.stringify(body) });
  if (!answer.ok) throw new Error(`etcd: POST ${path}: ${answer.status} ${await answer.text()}`);
  return (await answer.json()) as T;
}
