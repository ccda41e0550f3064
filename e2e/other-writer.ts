/** A controller of somebody else, which works on the same nodes at the same time. What it was told is written must stay. */
import { resources, systemClock, type Client, type Node } from '@outrigger/kube';

const TAINT = { key: 'other.example/maintenance', value: 'yes', effect: 'NoSchedule' } as const;
const LABEL = 'other.example/rack';
const CONDITION = 'OtherExampleHealthy';
const RETRY_MS = 100;

export class OtherWriter {
  readonly #client: Client;
  readonly #touched = new Set<string>();

  constructor(client: Client) {
    this.#client = client;
  }

  /** Nodes for which all of its writes were acknowledged. */
  get touched(): number {
    return this.#touched.size;
  }

  /**
   * Adds a taint (read, modify, write), a label (merge patch) and a condition (strategic merge patch of the status). Tries
   * again until `signal` aborts; rejects with its reason then.
   */
  async touch(name: string, signal: AbortSignal): Promise<void> {
    await this.#persist(() => this.#addTaint(name, signal), signal);
    const nodes = this.#client.of(resources.nodes);
    const label = { type: 'merge', body: { metadata: { labels: { [LABEL]: `rack-${name}` } } } } as const;
    await this.#persist(() => nodes.patch({ name }, label, { signal }), signal);
    const condition = { type: CONDITION, status: 'True', reason: 'Seen', message: name };
    const status = { type: 'strategic', body: { status: { conditions: [condition] } } } as const;
    await this.#persist(() => nodes.patch({ name }, status, { subresource: 'status', signal }), signal);
    this.#touched.add(name);
  }

  /** What was lost on this node; empty when nothing was. */
  lostOn(node: Node): readonly string[] {
    const name = node.metadata?.name ?? '';
    if (!this.#touched.has(name)) return [];
    return [
      ...(node.spec?.taints?.some(({ key }) => key === TAINT.key) ? [] : [`${name}: taint ${TAINT.key}`]),
      ...(node.metadata?.labels?.[LABEL] === `rack-${name}` ? [] : [`${name}: label ${LABEL}`]),
      ...(node.status?.conditions?.some(({ type }) => type === CONDITION) ? [] : [`${name}: condition ${CONDITION}`]),
    ];
  }

  async #addTaint(name: string, signal: AbortSignal): Promise<void> {
    const nodes = this.#client.of(resources.nodes);
    const node = await nodes.get({ name }, { signal });
    const taints = node.spec?.taints ?? [];
    // An answer may have been lost after it was written.
    if (taints.some(({ key }) => key === TAINT.key)) return;
    await nodes.update({ ...node, spec: { ...node.spec, taints: [...taints, TAINT] } }, { signal });
  }

  /** Conflicts, nodes that are not registered yet, an API server that is away: it has the time. */
  async #persist(write: () => Promise<unknown>, signal: AbortSignal): Promise<void> {
    for (;;) {
      try {
        await write();
        return;
      } catch {
        await systemClock.sleep(RETRY_MS, signal);
      }
    }
  }
}
