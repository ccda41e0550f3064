/** Single parts, each by its own ID: what proves that one is gone, or another's by now. Entry point: `PartReader`. */
import {
  asError,
  CloudError,
  isCloudError,
  type CallContext,
  type Clock,
  type Owner,
  type PartAnswer,
  type PartQuestion,
  sameOwner,
} from '@outrigger/cloud-provider';
import type { ApiClient, ServiceType } from '../../client/api-client.ts';
import { itemKeyOf, listOf } from '../../client/operation.ts';
import type { Home } from '../../home.ts';
import { isUuid } from '../../uuid.ts';
import type { WireFloatingIP, WireSecurityGroup } from '../neutron-wire.ts';
import type { PartKind } from '../observed-tree.ts';
import type { WireListener, WireLoadBalancer } from '../octavia-wire.ts';
import { hasOwnerTag, isLeft, markOf, ownersIn } from '../ownership.ts';
import { cpoPrefix } from '../listener-owner.ts';

/** In so long after the start the cluster's nodes are looked up, by which its place is known. */
const PATIENCE_MS = 60_000;

export interface PartReaderOptions {
  readonly client: ApiClient;
  readonly clock: Clock;
  readonly home: Home;
}

interface Reading {
  readonly service: ServiceType;
  /** Without the ID. */
  readonly path: string;
  readonly whoseIs: (
    thing: unknown,
    owner: Owner,
    read: () => Promise<readonly WireListener[]>,
  ) => Whose | Promise<Whose>;
}

/** Of a thing that is there: the owner's, nobody's, or who has it by now. */
type Whose = 'owner' | 'nobody' | { readonly other: string };

const LOAD_BALANCERS = { service: 'load-balancer', path: '/v2.0/lbaas/loadbalancers' } as const;

const READINGS: Readonly<Record<PartKind, Reading>> = {
  'load-balancer': {
    ...LOAD_BALANCERS,
    whoseIs: (thing, owner) => {
      const { tags = [] } = thing as WireLoadBalancer;
      const tagged = ownersIn(tags);
      if (isLeft(tags) && !hasOwnerTag(tags)) return { other: 'its owner has left it to those who share it' };
      // Tags of an owner that cannot be read, or of two, may be this one's.
      return tagged.taken && !tagged.owner ? 'owner' : whose(tagged.owner, owner);
    },
  },
  'shared-load-balancer': { ...LOAD_BALANCERS, whoseIs: sharerOf },
  'floating-ip': {
    service: 'network',
    path: '/v2.0/floatingips',
    whoseIs: (thing, owner) => markedFor(thing as WireFloatingIP, owner),
  },
  'security-group': {
    service: 'network',
    path: '/v2.0/security-groups',
    whoseIs: (thing, owner) => markedFor(thing as WireSecurityGroup, owner),
  },
};

export class PartReader {
  readonly #options: PartReaderOptions;
  readonly #startedAt: number;

  constructor(options: PartReaderOptions) {
    this.#options = options;
    this.#startedAt = options.clock.monotonic();
  }

  read(questions: readonly PartQuestion[], call: CallContext): Promise<readonly PartAnswer[]> {
    return Promise.all(
      questions.map(async (question): Promise<PartAnswer> => {
        try {
          return await this.#readOne(question, call);
        } catch (error) {
          return { kind: 'failed', error: asError(error) };
        }
      }),
    );
  }

  async #readOne({ id = '', kind, owner }: PartQuestion, call: CallContext): Promise<PartAnswer> {
    // A tenant may have written the kind: `constructor` is none.
    const reading = Object.hasOwn(READINGS, kind) ? READINGS[kind as PartKind] : undefined;
    if (!reading) throw new CloudError('unsupported', `OpenStack has no part of the kind ${kind}`);
    const { path, service, whoseIs } = reading;
    // What is no ID is in no path: one of `..` would lead elsewhere.
    if (!isUuid(id)) return { kind: 'absent', proof: `${id} is no ID of a ${kind} in OpenStack` };
    const operation = `GET ${path}/{id}`;
    let answer: Readonly<Record<string, unknown>>;
    try {
      answer = await this.#options.client.request(call, { service, operation, method: 'GET', path: `${path}/${id}` });
    } catch (error) {
      if (!isCloudError(error, 'not-found')) throw error;
      return await this.#gone({ kind, id, proof: error.message }, call);
    }
    const thing = answer[itemKeyOf(path)] as
      | { readonly id?: unknown; readonly provisioning_status?: unknown }
      | undefined;
    if (thing?.id !== id) throw new CloudError('unavailable', `${operation}: the answer is about something else`);
    if (thing.provisioning_status === 'DELETED') return this.#gone({ kind, id, proof: `${operation}: DELETED` }, call);
    this.#options.home.sawPart(id);
    const found = await whoseIs(thing, owner, () => this.#listenersOf(id, call));
    if (typeof found === 'object') return { kind: 'absent', proof: `${operation}: ${found.other}` };
    return { kind: 'there', ...(found === 'nobody' && { isUnowned: true }) };
  }

  /** A list proves presence only: what it leaves out says nothing. */
  #listenersOf(id: string, call: CallContext): Promise<readonly WireListener[]> {
    const list = listOf('load-balancer', '/v2.0/lbaas/listeners', [['loadbalancer_id', id]]);
    return this.#options.client.list<WireListener>(call, list);
  }

  #gone(
    gone: { readonly id: string; readonly kind: string; readonly proof: string },
    call: CallContext,
  ): Promise<PartAnswer> {
    const { clock, home } = this.#options;
    return home.partGone({ ...gone, isEarly: clock.monotonic() - this.#startedAt < PATIENCE_MS }, call);
  }
}

function whose(found: Owner | undefined, owner: Owner): Whose {
  if (!found) return 'nobody';
  return sameOwner(found, owner) ? 'owner' : { other: `it belongs to ${found.uid} of cluster ${found.clusterId}` };
}

function markedFor({ description, tags }: WireFloatingIP | WireSecurityGroup, owner: Owner): Whose {
  return whose(markOf(description ?? '', tags ?? [])?.owner, owner);
}

/**
 * A Service that a predecessor has put there has a tag with its name, which is not asked about. What the load balancer is called is
 * its owner's tag, and those of the others are on their listeners, beside the tags that say whose these are.
 */
async function sharerOf(thing: unknown, owner: Owner, read: () => Promise<readonly WireListener[]>): Promise<Whose> {
  const { name, tags = [] } = thing as WireLoadBalancer;
  const { owner: first, sharers, taken } = ownersIn(tags);
  if ([...(first ? [first] : []), ...sharers].some((one) => sameOwner(one, owner))) return 'owner';
  const theirs = tags.filter((tag) => tag.startsWith(cpoPrefix) && !(taken && tag === name));
  const listeners = theirs.length === 0 ? [] : (await read()).map((one) => one.tags ?? []);
  if (listeners.some((one) => sameOwner(ownersIn(one).owner, owner))) return 'owner';
  const ofOthers = new Set(listeners.filter((one) => ownersIn(one).owner).flat());
  if (theirs.every((tag) => ofOthers.has(tag))) return { other: 'it has no tag of this Service' };
  const text = 'the tags of cloud-provider-openstack do not tell whether this Service uses the load balancer';
  throw new CloudError('conflict', text);
}
