/** One hollow node's life: registration, Lease, status. What it does, and when, is the kubelet's. */
import {
  isAlreadyExists,
  isConflict,
  isNotFound,
  resources,
  type CallOptions,
  type Client,
  type Clock,
  type Lease,
  type Node,
  type Timer,
} from '@outrigger/kube';
import { conditionsOf, UNINITIALIZED_TAINT } from './hollow-node.ts';
import type { Limiter } from './limiter.ts';

/** The kubelet's own periods, in milliseconds; a test may want shorter ones. */
export interface Heartbeats {
  /** Default: 10,000 (a quarter of the lease). */
  readonly leaseMs?: number;
  /** Default: 300,000 (`nodeStatusReportFrequency`), when nothing changes. */
  readonly statusMs?: number;
}

/** What all hollow nodes of a fleet have in common. */
export interface KubeletContext {
  readonly client: Client;
  readonly clock: Clock;
  readonly random: () => number;
  /** Bounds the requests in flight. */
  readonly limiter: Limiter;
  /** `undefined`: no Leases, no periodic status. */
  readonly heartbeats: Required<Heartbeats> | undefined;
  readonly becomeReady: boolean;
  readonly signal: AbortSignal;
  /** Told of each write and of each error. */
  readonly onWrite: (kind: 'registration' | 'lease' | 'status') => void;
  readonly onError: (error: unknown) => void;
}

const LEASE_NAMESPACE = 'kube-node-lease';
const LEASE_SECONDS = 40;
/** The kubelet registers for ever, waiting 100 ms at first and 7 s at last. */
const FIRST_RETRY_MS = 100;
const LAST_RETRY_MS = 7_000;
/** Up to 4 % earlier or later, as client-go's lease controller. */
const JITTER = 0.04;

export class HollowKubelet {
  readonly name: string;
  readonly #context: KubeletContext;
  readonly #node: Node;
  readonly #timers = new Map<'lease' | 'status', Timer>();
  #uid: string | undefined;
  #lease: Lease | undefined;
  #ready = false;
  #readySince = 0;
  #wantsReady = false;
  #stopped = false;
  #reporting: Promise<void> | undefined;

  constructor(node: Node, context: KubeletContext) {
    this.#node = node;
    this.name = node.metadata?.name ?? '';
    this.#context = context;
  }

  get ready(): boolean {
    return this.#ready;
  }

  /** Creates the Node, trying for ever; one that exists is taken as it is. */
  async register(): Promise<void> {
    const { client, clock, signal } = this.#context;
    const nodes = client.of(resources.nodes);
    this.#readySince = clock.now();
    for (let delay = FIRST_RETRY_MS; ; delay = Math.min(delay * 2, LAST_RETRY_MS)) {
      try {
        const created = await this.#write((options) =>
          nodes.create(this.#node, options).catch(async (error: unknown) => {
            if (!isAlreadyExists(error)) throw error;
            return nodes.get({ name: this.name }, options);
          }),
        );
        this.#context.onWrite('registration');
        this.#uid = created.metadata?.uid;
        this.observe(created);
        break;
      } catch (error) {
        signal.throwIfAborted();
        this.#context.onError(error);
        await clock.sleep(delay, signal);
      }
    }
    this.#beginHeartbeats();
  }

  /** The watch saw the node. Without the taint it turns Ready; once Ready it stays so, as long as it beats. */
  observe(node: Node): void {
    const initialised = !node.spec?.taints?.some((taint) => taint.key === UNINITIALIZED_TAINT);
    if (this.#stopped || !this.#context.becomeReady || !initialised || this.#wantsReady) return;
    this.#wantsReady = true;
    void this.#report();
  }

  /** The kubelet dies: no more heartbeats. */
  stop(): void {
    this.#stopped = true;
    for (const timer of this.#timers.values()) timer.cancel();
    this.#timers.clear();
  }

  /** It comes back, on the same node. */
  resume(): void {
    if (!this.#stopped) return;
    this.#stopped = false;
    // Whatever it reported before may have been overwritten (NodeStatusUnknown).
    void this.#report();
    this.#beginHeartbeats();
  }

  #beginHeartbeats(): void {
    const { heartbeats, random } = this.#context;
    if (!heartbeats || this.#stopped) return;
    // Spread over the first period: kubelets do not start in step.
    this.#schedule('lease', random() * heartbeats.leaseMs);
    this.#schedule('status', heartbeats.statusMs * (1 - JITTER / 2 + random() * JITTER));
  }

  #schedule(beat: 'lease' | 'status', delayMs: number): void {
    if (this.#stopped || this.#context.signal.aborted) return;
    const run = (): void => void (beat === 'lease' ? this.#renewAndGoOn() : this.#reportAndGoOn());
    this.#timers.set(beat, this.#context.clock.setTimer(delayMs, run, { unref: true }));
  }

  async #renewAndGoOn(): Promise<void> {
    try {
      await this.#renewLease();
      this.#context.onWrite('lease');
    } catch (error) {
      this.#context.onError(error);
    }
    const { heartbeats, random } = this.#context;
    this.#schedule('lease', (heartbeats?.leaseMs ?? 0) * (1 - JITTER / 2 + random() * JITTER));
  }

  async #reportAndGoOn(): Promise<void> {
    await this.#report();
    this.#schedule('status', this.#context.heartbeats?.statusMs ?? 0);
  }

  async #renewLease(): Promise<void> {
    const { client, clock } = this.#context;
    const leases = client.of(resources.leases);
    const renewTime = new Date(clock.now()).toISOString().replace('Z', '000Z');
    const ref = { name: this.name, namespace: LEASE_NAMESPACE };
    try {
      this.#lease = await this.#write((options) =>
        this.#lease
          ? leases.update({ ...this.#lease, spec: { ...this.#lease.spec, renewTime } }, options)
          : leases.create(this.#newLease(renewTime), { ...options, namespace: LEASE_NAMESPACE }),
      );
    } catch (error) {
      // Somebody else wrote or removed it, or an answer was lost: look again, and write at the next beat.
      if (isConflict(error) || isAlreadyExists(error)) this.#lease = await this.#write((o) => leases.get(ref, o));
      else if (isNotFound(error)) this.#lease = undefined;
      throw error;
    }
  }

  #newLease(renewTime: string): Lease {
    const owner = { apiVersion: 'v1', kind: 'Node', name: this.name, uid: this.#uid ?? '' };
    return {
      apiVersion: 'coordination.k8s.io/v1',
      kind: 'Lease',
      metadata: { name: this.name, namespace: LEASE_NAMESPACE, ...(this.#uid && { ownerReferences: [owner] }) },
      spec: { holderIdentity: this.name, leaseDurationSeconds: LEASE_SECONDS, renewTime },
    };
  }

  /** Conditions only: addresses are the cloud's once it has set them. One at a time; never rejects. */
  #report(): Promise<void> {
    const after = this.#reporting ?? Promise.resolve();
    const report = after.then(() => this.#sendReport());
    this.#reporting = report;
    return report;
  }

  async #sendReport(): Promise<void> {
    const { client, clock, signal } = this.#context;
    for (let delay = FIRST_RETRY_MS; !this.#stopped && !signal.aborted; delay = Math.min(delay * 2, LAST_RETRY_MS)) {
      const ready = this.#wantsReady;
      const now = clock.now();
      if (ready !== this.#ready) this.#readySince = now;
      const body = { status: { conditions: conditionsOf(ready, now, this.#readySince) } };
      try {
        await this.#write((options) =>
          client
            .of(resources.nodes)
            .patch(
              { name: this.name },
              { type: 'strategic', body },
              { ...options, subresource: 'status', answer: 'metadata' },
            ),
        );
        this.#ready = ready;
        this.#context.onWrite('status');
        return;
      } catch (error) {
        if (signal.aborted) return;
        this.#context.onError(error);
        // Deleted: a kubelet would not register again by itself either.
        if (isNotFound(error)) return;
        await clock.sleep(delay, signal).catch(() => {});
      }
    }
  }

  #write<T>(send: (options: CallOptions) => Promise<T>): Promise<T> {
    return this.#context.limiter.run(() => send({ signal: this.#context.signal }));
  }
}
