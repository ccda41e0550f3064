/** Changes of Neutron ports, which others change too: each names the revision that was read. */
import { isCloudError, type CallContext } from '@outrigger/cloud-provider';
import type { ApiClient } from './api-client.ts';
import { operation } from './operation.ts';
import { readOne } from './read-one.ts';

/** Someone who changes a port without end is not waited for here: the host tries again with back-off. */
const MOST_ATTEMPTS = 5;

interface Port {
  readonly id: string;
  /** Of the extension `standard-attr-revisions`. */
  readonly revision_number?: number;
}

/** `first`: as it was read. `change`: the attributes that are to be another; `undefined`: none. It is asked again after a 412. */
export async function changePort<P extends Port>(
  client: ApiClient,
  first: P,
  change: (port: P) => Partial<P> | undefined,
  call: CallContext,
): Promise<void> {
  let port = first;
  for (let attempt = 1; ; attempt++) {
    const changes = change(port);
    if (!changes) return;
    const { id, revision_number: revision } = port;
    const request = operation('network', 'PUT /v2.0/ports/{id}', id);
    try {
      await client.request(call, { ...request, body: { port: changes }, ...(revision !== undefined && { revision }) });
      return;
    } catch (error) {
      if (attempt === MOST_ATTEMPTS || !isCloudError(error, 'conflict')) throw error;
      port = await readOne<P>(client, ['network', '/v2.0/ports'], id, call);
    }
  }
}
