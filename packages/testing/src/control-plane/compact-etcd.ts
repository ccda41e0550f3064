/** Makes etcd forget the past, over its JSON gateway (https://etcd.io/docs/v3.6/dev-guide/api_grpc_gateway/). */

/** Compacts to the present revision: reads and watches of any revision before it are refused from now on. */
export async function compactEtcd(url: string): Promise<void> {
  // Any key will do; the answer's header has the revision.
  const { header } = await ask<{ header: { revision: string } }>(`${url}/v3/kv/range`, { key: btoa('\0'), limit: '1' });
  await ask(`${url}/v3/kv/compaction`, { revision: header.revision, physical: true });
}

async function ask<T>(url: string, body: unknown): Promise<T> {
  const answer = await fetch(url, { method: 'POST', body: JSON.stringify(body) });
  if (!answer.ok) throw new Error(`etcd: POST ${url}: ${answer.status} ${await answer.text()}`);
  return (await answer.json()) as T;
}
