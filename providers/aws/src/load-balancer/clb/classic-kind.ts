/** The Classic Load Balancer: one part, with its listeners, policies, health check, attributes and instances inside. */
import { CloudError, type CallContext, type LoadBalancerService } from '@outrigger/cloud-provider';
import type { ListedPart, PartKind, PartRequest } from '@outrigger/provider-kit';
import type { LoadBalancerDescription } from '../../client/generated/elb.ts';
import { pages } from '../../client/pages.ts';
import { CLASSIC, LISTENER, LOAD_BALANCER, SECURITY_GROUP, type KindSetup } from '../frame.ts';
import { WaitsError } from '../left-out.ts';
import { maySee, touchesOf } from '../named-things.ts';
import { loadBalancerName } from '../names.ts';
import { isMadeByPredecessor, isServed, readSurely, sameSet, tagsOfRequest } from '../nlb/nlb-setup.ts';
import { readClassicTags } from '../observe/read-tags.ts';
import { settingsHash, type Settings, type SettingsMemory } from '../observe/settings-memory.ts';
import { Tagging } from '../observe/tagging.ts';
import { hasTags, ownerIn, tagList, type Tags } from '../ownership.ts';
import type { NodeAccess } from '../security-groups/node-access.ts';
import { ClassicChange, instancesIn, wireOf } from './change-classic.ts';
import { nameOf, type ClassicLook, type ClassicThing } from './classic-look.ts';
import { SwitchOver } from './switch-over.ts';
import { attributesFor, settingsIn, shapeIn, shapeOf, type ClassicShape } from './classic-shape.ts';

export interface ClassicSetup extends Omit<KindSetup, 'access'> {
  readonly access: NodeAccess;
  readonly classics: ClassicLook;
  readonly settings: SettingsMemory;
}

interface Members {
  /** Instance IDs. Sorted. */
  readonly instances: readonly string[];
  /** Whether the nodes let it in. */
  readonly access: boolean;
}

const NAME = /^[A-Za-z0-9-]{1,32}$/u;
/** AWS allows so many for one load balancer, unless raised. */
const MOST_GROUPS = 5;

export function classicKind(setup: ClassicSetup): PartKind {
  const { access, classics, client, facts, instanceIdsOf, settings: memory, settingsOf } = setup;
  const calls = new ClassicCalls(setup);
  return {
    kind: CLASSIC,
    needs: [SECURITY_GROUP],
    fixed: ['scheme'],
    compare: {
      subnets: sameSet,
      securityGroups: sameSet,
      tags: (there, wanted) => hasTags(there as Tags, wanted as Tags),
      settings: (there, wanted) => there === settingsHash(wanted as Settings),
    },
    isPredecessors: ({ attributes }, service) => isMadeByPredecessor(setup, attributes, service),
    wanted: (desired, there) => {
      const settings = settingsOf(desired);
      if (settings.type === 'nlb') {
        // The old one serves until the new one does.
        const hasListeners = settings.listeners.every(({ port }) => there(LISTENER, `${port}`));
        const isThere = there(LOAD_BALANCER)?.state === 'ready' && hasListeners;
        return isThere && isServed(there(CLASSIC)?.attributes ?? {}) ? [] : undefined;
      }
      const { extra, named } = settings.groups;
      const own = named.length > 0 ? named : there(SECURITY_GROUP)?.id;
      if (own === undefined) return undefined;
      const current = there(CLASSIC)?.attributes['subnets'] as readonly string[] | undefined;
      const securityGroups = [...new Set([own, extra].flat())];
      const subnets = facts().subnetsFor(settings, current, maySee(desired));
      const touches = touchesOf(desired, settings, there(CLASSIC), subnets);
      return [{ attributes: { ...shapeOf(settings, { securityGroups, subnets }) }, touches }];
    },
    members: ({ backEnds }) => ({ instances: instanceIdsOf(backEnds), access: true }),
    list: async (call, services) => {
      const things = await classics.things(call, services);
      calls.switchOver.forget(services ?? [], things);
      await access.learn(
        things.flatMap(({ thing }) => instancesIn(thing)),
        call,
      );
      return Promise.all(things.map((one) => calls.partOf(one, services ?? [], call)));
    },
    read: async (id, call) => {
      if (!NAME.test(id)) throw new CloudError('invalid', `${CLASSIC}: this is no name of one`);
      const thing = await readSurely(id, classics.recent.isYoung(id), async () => {
        const answer = await client.elb(call, 'DescribeLoadBalancers', { LoadBalancerNames: [id] });
        return answer.LoadBalancerDescriptions;
      });
      return calls.shown({ thing, tags: await calls.tagging.of(id, call) }, undefined);
    },
    create: (request, call) => calls.create(request, call),
    update: (id, { attributes, changed }, call) => calls.change(id, shapeFrom(attributes), changed, call),
    claim: (id, owner, call) => calls.tagging.claim(id, owner, call),
    delete: async (id, call) => {
      await calls.closeNamed(id, call);
      // Of one that there is not, AWS says the same.
      await client.elb(call, 'DeleteLoadBalancer', { LoadBalancerName: id });
      classics.recent.deleted(id);
      memory.forget(id);
      setup.leftOut.forget(id);
    },
  };
}

/** What `wanted` and `members` have made: a plan is JSON. */
const shapeFrom = (attributes: PartRequest['attributes']): ClassicShape & Members =>
  attributes as unknown as ClassicShape & Members;

class ClassicCalls {
  readonly #setup: ClassicSetup;
  readonly switchOver: SwitchOver;
  readonly tagging: Tagging;

  constructor(setup: ClassicSetup) {
    this.#setup = setup;
    this.switchOver = new SwitchOver(setup);
    const { classics, client } = setup;
    this.tagging = new Tagging(
      {
        read: async (id, call) => (await readClassicTags(client, [id], call)).get(id),
        set: (id, Tags, call) => client.elb(call, 'AddTags', { LoadBalancerNames: [id], Tags }),
        remove: (id, keys, call) =>
          client.elb(call, 'RemoveTags', { LoadBalancerNames: [id], Tags: keys.map((Key) => ({ Key })) }),
      },
      classics.recent,
    );
  }

  async partOf(one: ClassicThing, services: readonly LoadBalancerService[], call: CallContext): Promise<ListedPart> {
    const { client, settings } = this.#setup;
    const name = nameOf(one.thing);
    const read = async (): Promise<Settings> => {
      const answer = await client.elb(call, 'DescribeLoadBalancerAttributes', { LoadBalancerName: name });
      return settingsIn(answer.LoadBalancerAttributes ?? {});
    };
    const { attributes, ...part } = this.shown(one, await settings.of(name, one.tags, read, call));
    const served = await this.switchOver.isServed(one, services, call);
    return { ...part, attributes: { ...attributes, isServed: served } };
  }

  shown({ isYoung = false, tags, thing }: ClassicThing, hash: string | undefined): ListedPart {
    const instances = instancesIn(thing).toSorted();
    const shape = shapeIn(thing);
    const { access, leftOut } = this.#setup;
    const sources = access.sourcesOf(shape.securityGroups);
    const judged = leftOut.without(nameOf(thing), instances);
    const isOpen = sources.length === 0 || sources.some((source) => access.isOpen(source, judged));
    const attributes = {
      ...shape,
      vpcId: thing.VPCId,
      tags,
      settings: hash,
      instances: leftOut.with(nameOf(thing), instances),
      leftOut: leftOut.of(nameOf(thing), instances),
      access: isOpen,
      dnsName: thing.DNSName,
    };
    return { id: nameOf(thing), owner: ownerIn(tags), state: isYoung ? 'pending' : 'ready', attributes };
  }

  /** What the creation cannot set follows at once; what fails of it the next look finds, and says. */
  async create(request: PartRequest, call: CallContext): Promise<{ readonly id: string }> {
    const { classics, client } = this.#setup;
    const id = loadBalancerName(request.owner.uid);
    const shape = shapeFrom(request.attributes);
    const { scheme, securityGroups: SecurityGroups, subnets: Subnets } = shape;
    const tags = tagsOfRequest(this.#setup, request);
    const Listeners = shape.listeners.map(wireOf);
    const { DNSName = '' } = await client.elb(call, 'CreateLoadBalancer', {
      LoadBalancerName: id,
      Listeners,
      SecurityGroups,
      Subnets,
      Tags: tagList(tags),
      ...(scheme === 'internal' && { Scheme: scheme }),
    });
    const ListenerDescriptions = Listeners.map((Listener) => ({ Listener }));
    const thing = { LoadBalancerName: id, DNSName, ListenerDescriptions, Scheme: scheme, SecurityGroups, Subnets };
    classics.recent.created(id, thing, tags);
    const rest = ['healthCheck', 'tlsPolicy', 'proxyPorts', 'settings', 'instances'];
    try {
      await this.change(id, shape, rest, call);
    } catch (error) {
      call.logger.verbose(2, 'A Classic Load Balancer was created, and not all of it is set yet', { id, error });
    }
    return { id };
  }

  async change(
    id: string,
    shape: ClassicShape & Members,
    changed: readonly string[],
    call: CallContext,
  ): Promise<void> {
    const change = new ClassicChange(this.#setup, id, call);
    const there = await this.#read(id, change);
    const has = (name: keyof ClassicShape | keyof Members): boolean => changed.includes(name);
    let groups = shape.securityGroups;
    let waits: WaitsError | undefined;
    // Whole, before what AWS may refuse: a group that is to go lets its clients in as long as it is there.
    try {
      if (has('securityGroups')) await this.#changeGroups(id, there, groups, change, call);
    } catch (error) {
      if (!(error instanceof WaitsError)) throw error;
      waits = error;
      groups = shapeIn(there).securityGroups;
    }
    if (has('subnets')) await change.subnets(there, shape.subnets);
    if (has('listeners')) await change.listeners(there, shape.listeners);
    if (shape.tlsPolicy !== undefined && shape.tlsPolicy !== shapeIn(there).tlsPolicy) {
      await change.tlsPolicy(shape.listeners, shape.tlsPolicy);
    }
    if (has('proxyPorts')) await change.proxyPorts(there, shape.proxyPorts);
    if (has('healthCheck')) await change.healthCheck(shape.healthCheck);
    if (has('settings')) await this.#setSettings(id, shape.settings, call);
    if (has('tags')) await this.tagging.follow(id, shape.tags, call);
    if (has('instances') || has('access')) {
      this.#setup.leftOut.trying(id);
      const [source] = this.#setup.access.sourcesOf(this.#openFirst(there, groups));
      await change.instances(there, shape.instances, source);
    }
    if (waits) throw waits;
  }

  async #changeGroups(
    id: string,
    there: LoadBalancerDescription,
    wanted: readonly string[],
    change: ClassicChange,
    call: CallContext,
  ): Promise<void> {
    const { SecurityGroups: before = [] } = there;
    const [source = ''] = wanted;
    const isNew = !before.includes(source);
    // By the groups that it has the next process sees what nodes let in.
    const attached = isNew && before.length < MOST_GROUPS ? [...before, source] : before;
    if (attached !== before) await change.setGroups(attached);
    try {
      await change.open(source, there);
    } catch (error) {
      if (!(error instanceof WaitsError) || !isNew) throw error;
      await this.closeNamed(id, call, [source]);
      if (attached !== before) await change.setGroups(before);
      throw error;
    }
    const { left, held } = this.#leaving(there, wanted);
    const next = [...wanted, ...held];
    if (!sameSet(attached, next)) await change.setGroups(next);
    if (left.length === 0) return;
    const { isShared } = await this.closeNamed(id, call, left);
    if (held.length === 0) return;
    await change.setGroups(wanted);
    // Another that leaves it at the same time has taken this one for its user.
    if (isShared) await this.closeNamed(id, call, left);
  }

  /**
   * Those that it is to have no more, first what nodes let in. As far as AWS takes so many, they are held until nodes let them in no more: by
   * them the next process sees what there is to do still.
   */
  #leaving(
    there: LoadBalancerDescription,
    wanted: readonly string[],
  ): { readonly left: readonly string[]; readonly held: readonly string[] } {
    const before = shapeIn(there).securityGroups.filter((id) => !wanted.includes(id));
    const left = this.#openFirst(there, before);
    return { left, held: left.slice(0, Math.max(0, MOST_GROUPS - wanted.length)) };
  }

  /** AWS shows them in any order. */
  #openFirst(there: LoadBalancerDescription, groups: readonly string[]): readonly string[] {
    const open = groups.filter((id) => this.#setup.access.isOpen(id, instancesIn(there)));
    return [...new Set([...open, ...groups])];
  }

  /** A group that the Service or the config has named stays: that nodes let it in goes with the last load balancer that has it. */
  async closeNamed(id: string, call: CallContext, groups?: readonly string[]): Promise<{ readonly isShared: boolean }> {
    const { access, client } = this.#setup;
    const all = await pages(client.elb, call, 'DescribeLoadBalancers', { PageSize: 400 });
    const groupsOf = (one: LoadBalancerDescription | undefined): readonly string[] => one?.SecurityGroups ?? [];
    // Which of its groups nodes let in cannot be told for sure: AWS shows them in any order.
    const used = new Set(all.filter((one) => nameOf(one) !== id).flatMap(groupsOf));
    const left = new Set(groups ?? groupsOf(all.find((one) => nameOf(one) === id)));
    const alone = left.difference(used);
    await access.withdraw(alone, call);
    return { isShared: alone.size < left.size };
  }

  #read(id: string, change: ClassicChange): Promise<LoadBalancerDescription> {
    return readSurely(id, this.#setup.classics.recent.isYoung(id), () => change.read());
  }

  /** The attributes first: a hash that stands there says that they are so. */
  async #setSettings(LoadBalancerName: string, settings: Settings, call: CallContext): Promise<void> {
    const { client } = this.#setup;
    const LoadBalancerAttributes = attributesFor(settings);
    await client.elb(call, 'ModifyLoadBalancerAttributes', { LoadBalancerName, LoadBalancerAttributes });
    await this.#setup.settings.written(LoadBalancerName, settings, this.tagging, call);
  }
}
