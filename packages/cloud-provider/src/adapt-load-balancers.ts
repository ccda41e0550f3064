/** From the shape that upstream asks of a provider, opaque `ensure` and `delete`, to one part and one action a load balancer. */
import type { CallContext } from './call-context.ts';
import { asError } from './errors.ts';
import { loadBalancerOwnerIn, type LoadBalancerService } from './load-balancer-service.ts';
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
  /**
   * Gives what is there `desired.backEnds` as its members, and changes nothing else. Of `desired.service` only what tells which load
   * balancer and node ports are meant is to be read: the rest may be what is refused. Called while it is (`planMembers`); fails where
   * nothing is there. Default: members stay as they are until the Service is accepted. Upstream: `UpdateLoadBalancer`.
   */
  update?(desired: DesiredLoadBalancer, call: CallContext): Promise<void>;
  /** Removes all of it, what is half made too; nothing there is a success. Upstream: `EnsureLoadBalancerDeleted`. */
  delete(service: LoadBalancerService, call: CallContext): Promise<void>;
}

export interface AdaptLoadBalancersOptions extends Pick<LoadBalancers, 'features' | 'classes' | 'lockKey'> {
  /** `ProviderHost.cluster.id`. */
  readonly clusterId: string;
  readonly annotations?: LoadBalancers['annotations'];
}

/** What is known of one load balancer; `undefined` members: it was begun, and may be half made. */
interface Known {
  readonly text: string | undefined;
  /** `GONE`: there is nothing that could have members. */
  readonly members: string | undefined;
  readonly ingress: readonly LoadBalancerIngress[];
}

const KIND = 'load-balancer';
const GONE = 'gone';
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
  /** Where there is a call for members alone. */
  readonly planMembers?: NonNullable<LoadBalancers['planMembers']>;
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
    if (opaque.update) this.planMembers = planMembers;
  }

  lockKey(service: LoadBalancerService, parts?: readonly LoadBalancerPart[]): string {
    return this.#options.lockKey?.(service, parts) ?? service.uid;
  }

  observe(services: readonly LoadBalancerService[], call: CallContext): ReturnType<LoadBalancers['observe']> {
    return Promise.all(
      services.map(async (service) => {
        try {
          return { kind: 'parts', parts: await this.#partsOf(service, call) } as const;
        } catch (error) {
          return { kind: 'failed', error: asError(error) } as const;
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
    { input, kind }: LoadBalancerAction,
    desired: DesiredLoadBalancer,
    call: CallContext,
  ): ReturnType<LoadBalancers['apply']> {
    const { uid } = desired.service;
    if (kind === 'delete') {
      await this.#opaque.delete(desired.service, call);
      this.#forget(uid);
      return { kind: 'done' };
    }
    if (input.members === true) {
      await this.#updateMembers(desired, call);
      return { kind: 'done' };
    }
    this.#deleted.delete(uid);
    const { ingress: before = [], members } = this.#known.get(uid) ?? {};
    this.#known.set(uid, { text: undefined, members, ingress: before });
    const ingress = await this.#opaque.ensure(desired, call);
    this.#known.set(uid, { text: textOf(desired), members: membersOf(desired), ingress });
    return { kind: 'done' };
  }

  /** As upstream does: what is not there any more has no members to update, and is ensured as soon as the Service is accepted. */
  async #updateMembers(desired: DesiredLoadBalancer, call: CallContext): Promise<void> {
    const { service } = desired;
    const ingress = this.#known.get(service.uid)?.ingress ?? [];
    let members = membersOf(desired);
    try {
      await this.#opaque.update?.(desired, call);
    } catch (error) {
      if (await this.#opaque.exists(service, call)) throw error;
      members = GONE;
    }
    this.#known.set(service.uid, { text: undefined, members, ingress });
  }

  /** Nobody can tell: an opaque load balancer is found by its Service only. */
  listOwned(): Promise<readonly LoadBalancerPart[]> {
    return Promise.resolve([]);
  }

  async #partsOf(service: LoadBalancerService, call: CallContext): Promise<readonly LoadBalancerPart[]> {
    const { uid } = service;
    if (this.#deleted.has(uid)) return [];
    const known = this.#known.get(uid);
    const begun = known !== undefined || loadBalancerOwnerIn(service.annotations) !== undefined;
    if (!begun && !(await this.#opaque.exists(service, call))) return [];
    const owner = { clusterId: this.#options.clusterId, uid };
    const addresses = known?.ingress.flatMap(({ ip }) => ip ?? []);
    return [{ kind: KIND, id: uid, owner, state: 'ready', addresses, attributes: { opaque: true, ...known } }];
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
  input: Readonly<Record<string, unknown>> = {},
): LoadBalancerAction {
  return { kind, part: KIND, ...(part ? { id: part.id } : {}), summary, input: { opaque: true, ...input } };
}

/** What was never ensured has none yet; of what another process has ensured, the address is what is known. */
function planMembers(desired: DesiredLoadBalancer, [part]: readonly LoadBalancerPart[]): LoadBalancerPlan {
  const { backEnds, service } = desired;
  const members = part?.attributes.members ?? (service.ingress.length > 0 ? undefined : GONE);
  if (!part || members === GONE || members === membersOf(desired)) return { actions: [], complete: true, ingress: [] };
  const summary = `give the load balancer ${backEnds.length} back ends (opaque to Outrigger)`;
  return { actions: [action('update', part, summary, { members: true })], complete: false, ingress: [] };
}

function textOf(desired: DesiredLoadBalancer): string {
  const { ingress: _, ...service } = desired.service;
  return `${JSON.stringify(service)} ${membersOf(desired)}`;
}

function membersOf({ backEnds }: DesiredLoadBalancer): string {
  return JSON.stringify(backEnds.map(({ node, addresses }) => [node.name, node.providerID, addresses]));
}
