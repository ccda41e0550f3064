/** From the shape that upstream asks of a provider, opaque `ensure` and `delete`, to one part and one action a load balancer. */
import type { CallContext } from './call-context.ts';
import type { Clock } from './clock.ts';
import { loadBalancerOwnerAnnotation, type LoadBalancerService } from './load-balancer-service.ts';
import type { LoadBalancerIngress } from './load-balancer-status.ts';
import type {
  DesiredLoadBalancer,
  LoadBalancerAction,
  LoadBalancerPart,
  LoadBalancerPlan,
  LoadBalancers,
} from './load-balancers.ts';

/** Upstream's `LoadBalancer`. What is made inside can neither be shown nor explained; prefer parts. */
export interface OpaqueLoadBalancer {
  /** Whether there may be anything for this Service that this process has not made itself. Upstream: `GetLoadBalancer`. */
  exists(service: LoadBalancerService, call: CallContext): Promise<boolean>;
  /** Makes or changes all of it. Idempotent. Upstream: `EnsureLoadBalancer` and `UpdateLoadBalancer`. */
  ensure(desired: DesiredLoadBalancer, call: CallContext): Promise<readonly LoadBalancerIngress[]>;
  /** Removes all of it, what is half made too; nothing there is a success. Upstream: `EnsureLoadBalancerDeleted`. */
  delete(service: LoadBalancerService, call: CallContext): Promise<void>;
}

export interface AdaptLoadBalancersOptions extends Pick<LoadBalancers, 'features' | 'classes' | 'lockKey'> {
  readonly clock: Clock;
  /** `ProviderHost.cluster.id`. */
  readonly clusterId: string;
  readonly annotations?: LoadBalancers['annotations'];
}

/** What is known of one load balancer; `undefined` members: it was begun, and may be half made. */
interface Known {
  readonly text: string | undefined;
  readonly ingress: readonly LoadBalancerIngress[];
}

const KIND = 'load-balancer';
const BATCH_SIZE = 50;
const REMEMBERED_DELETIONS = 1_000;

/**
 * Each new process calls `ensure` once for each load balancer, as upstream does: nothing says what there is already. Where a
 * Service was ever begun, `delete` is called before its finalizer goes, whatever `exists` says: half of it may be there.
 */
export function adaptLoadBalancers(opaque: OpaqueLoadBalancer, options: AdaptLoadBalancersOptions): LoadBalancers {
  return new AdaptedLoadBalancers(opaque, options);
}

class AdaptedLoadBalancers implements LoadBalancers {
  readonly features: LoadBalancers['features'];
  readonly classes: readonly string[];
  readonly annotations: LoadBalancers['annotations'];
  readonly batchSize = BATCH_SIZE;
  /** What was ever begun is shown, whatever the cloud says, until `delete` has come back. */
  readonly consistency = 'strong';
  readonly #opaque: OpaqueLoadBalancer;
  readonly #options: AdaptLoadBalancersOptions;
  readonly #known = new Map<string, Known>();
  readonly #deleted = new Set<string>();

  constructor(opaque: OpaqueLoadBalancer, options: AdaptLoadBalancersOptions) {
    this.#opaque = opaque;
    this.#options = options;
    this.features = options.features;
    this.classes = options.classes;
    this.annotations = options.annotations ?? [];
  }

  lockKey(service: LoadBalancerService, parts?: readonly LoadBalancerPart[]): string {
    return this.#options.lockKey?.(service, parts) ?? service.uid;
  }

  observe(services: readonly LoadBalancerService[], call: CallContext): ReturnType<LoadBalancers['observe']> {
    return Promise.all(
      services.map(async (service) => {
        const asOf = this.#options.clock.monotonic();
        try {
          return { kind: 'parts', asOf, parts: await this.#partsOf(service, call) } as const;
        } catch (error) {
          return { kind: 'failed', error: error instanceof Error ? error : new Error(String(error)) } as const;
        }
      }),
    );
  }

  plan(desired: DesiredLoadBalancer, parts: readonly LoadBalancerPart[]): LoadBalancerPlan {
    const [part] = parts;
    if (!desired.wanted) {
      const actions = part ? [action('delete', part, 'delete the load balancer and all that belongs to it')] : [];
      return { actions, complete: actions.length === 0, ingress: [] };
    }
    if (part?.attributes.text !== textOf(desired)) {
      const summary = `ensure the load balancer with ${desired.backEnds.length} back ends (opaque to Outrigger)`;
      return { actions: [action(part ? 'update' : 'create', part, summary)], complete: false, ingress: [] };
    }
    return { actions: [], complete: true, ingress: part.attributes.ingress as readonly LoadBalancerIngress[] };
  }

  async apply(
    { kind }: LoadBalancerAction,
    desired: DesiredLoadBalancer,
    call: CallContext,
  ): ReturnType<LoadBalancers['apply']> {
    const { uid } = desired.service;
    if (kind === 'delete') {
      await this.#opaque.delete(desired.service, call);
      this.#forget(uid);
      return { kind: 'done' };
    }
    this.#deleted.delete(uid);
    this.#known.set(uid, { text: undefined, ingress: [] });
    const ingress = await this.#opaque.ensure(desired, call);
    this.#known.set(uid, { text: textOf(desired), ingress });
    return { kind: 'done' };
  }

  /** Nobody can tell: an opaque load balancer is found by its Service only. */
  listOwned(): Promise<readonly LoadBalancerPart[]> {
    return Promise.resolve([]);
  }

  async #partsOf(service: LoadBalancerService, call: CallContext): Promise<readonly LoadBalancerPart[]> {
    const { uid } = service;
    if (this.#deleted.has(uid)) return [];
    const known = this.#known.get(uid);
    const begun = known !== undefined || service.annotations[loadBalancerOwnerAnnotation] !== undefined;
    if (!begun && !(await this.#opaque.exists(service, call))) return [];
    const owner = { clusterId: this.#options.clusterId, uid };
    return [{ kind: KIND, id: uid, owner, state: 'ready', attributes: { opaque: true, ...known } }];
  }

  #forget(uid: string): void {
    this.#known.delete(uid);
    this.#deleted.add(uid);
    // A finalizer goes moments after the deletion; the oldest are of no use any more.
    const [oldest] = this.#deleted;
    if (this.#deleted.size > REMEMBERED_DELETIONS && oldest !== undefined) this.#deleted.delete(oldest);
  }
}

function action(
  kind: LoadBalancerAction['kind'],
  part: LoadBalancerPart | undefined,
  summary: string,
): LoadBalancerAction {
  return { kind, part: KIND, ...(part ? { id: part.id } : {}), summary, input: { opaque: true } };
}

function textOf(desired: DesiredLoadBalancer): string {
  const { ingress: _, ...service } = desired.service;
  const targets = desired.backEnds.map(({ node, addresses }) => [node.name, node.providerID, addresses]);
  return JSON.stringify([service, targets]);
}
