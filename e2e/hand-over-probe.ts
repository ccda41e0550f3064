/**
 * Who works, as seen from what is done: a node is registered twice a second, the manager that runs node IPAM gives it its
 * pod CIDRs, and the API server's record says which one that was, and when.
 */
import { resources, systemClock, type Client } from '@outrigger/kube';
import { hollowNode, type AuditEntry, type ControlPlane } from '@outrigger/testing';

/** Something that one manager has done. */
export interface Deed {
  /** User of the API server. */
  readonly user: string;
  readonly object: string;
  /** When the API server was asked, in milliseconds since the Unix epoch. */
  readonly at: number;
}

const PERIOD_MS = 500;
const PREFIX = 'probe-';

export class NodeProbe implements AsyncDisposable {
  readonly #client: Client;
  readonly #stop = new AbortController();
  readonly #running: Promise<void>;
  #count = 0;

  constructor(client: Client) {
    this.#client = client;
    this.#running = this.#run();
  }

  async #run(): Promise<void> {
    const nodes = this.#client.of(resources.nodes);
    while (!this.#stop.signal.aborted) {
      const name = `${PREFIX}${String(this.#count++).padStart(4, '0')}`;
      await nodes.create(hollowNode({ name, images: 0 }));
      await systemClock.sleep(PERIOD_MS, this.#stop.signal).catch(() => {});
    }
  }

  /** Ends it; rejects with what went wrong while it ran. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort();
    await this.#running;
  }
}

/** The pod CIDRs that were given to the probe's nodes, in order of time. */
export async function allocations({ auditLog }: ControlPlane): Promise<readonly Deed[]> {
  const patches = await auditLog.requests(
    ({ objectRef, responseStatus, verb }) =>
      verb === 'patch' &&
      objectRef?.resource === 'nodes' &&
      objectRef.subresource === undefined &&
      (objectRef.name ?? '').startsWith(PREFIX) &&
      (responseStatus?.code ?? 500) < 300,
  );
  return patches.map(deedOf).toSorted((a, b) => a.at - b.at);
}

function deedOf({ objectRef, requestReceivedTimestamp, user }: AuditEntry): Deed {
  return { user: user.username, object: objectRef?.name ?? '', at: Date.parse(requestReceivedTimestamp) };
}

/** Deeds in a row by one user, one entry each: two managers at work at a time are more entries than there were hand-overs. */
export function turns(
  deeds: readonly Deed[],
): readonly { readonly user: string; readonly first: Deed; readonly last: Deed }[] {
  const found: { user: string; first: Deed; last: Deed }[] = [];
  for (const deed of deeds) {
    const current = found.at(-1);
    if (current?.user === deed.user) current.last = deed;
    else found.push({ user: deed.user, first: deed, last: deed });
  }
  return found;
}
