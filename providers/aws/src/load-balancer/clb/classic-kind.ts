/** The Classic Load Balancer: one part, with its listeners, policies, health check, attributes and instances inside. */
import { CloudError, isCloudError, type CallContext } from '@outrigger/cloud-provider';
import type { ListedPart, PartKind, PartRequest } from '@outrigger/provider-kit';
import type { LoadBalancerDescription } from '../../client/generated/elb.ts';
import { pages } from '../../client/pages.ts';
import { annotationRows } from '../annotations/annotation-rows.ts';
import { CLASSIC, LISTENER, LOAD_BALANCER, SECURITY_GROUP, type KindSetup } from '../frame.ts';
import { touchesOf } from '../named-things.ts';
import { loadBalancerName } from '../names.ts';
import { instanceIdsOf } from '../nlb/instance-ids.ts';
import { isMadeByPredecessor, readSurely, sameSet, tagsOfRequest } from '../nlb/nlb-setup.ts';
import { readClassicTags } from '../observe/read-tags.ts';
import { SETTINGS_TAG, settingsHash, type Settings, type SettingsMemory } from '../observe/settings-memory.ts';
import { hasTags, ownerIn, ownerTags, tagChanges, tagList, type Tags } from '../ownership.ts';
import type { NodeAccess } from '../security-groups/node-access.ts';
import { ClassicChange, instancesIn, wireOf } from './change-classic.ts';
import { nameOf, type ClassicLook, type ClassicThing } from './classic-look.ts';
import { attributesFor, settingsIn, shapeIn, shapeOf, type ClassicShape } from './classic-shape.ts';

export interface ClassicSetup extends Omit<KindSetup, 'access'> {
  readonly access: NodeAccess;
  readonly look: ClassicLook;
  readonly settings: SettingsMemory;
}

interface Members {
  /** Instance IDs. Sorted. */
  readonly instances: readonly string[];
  /** Whether the nodes let it in. */
  readonly access: boolean;
}

/** Targets may never be healthy: of a Service without endpoints, whose traffic policy is `Local`. */
const HEALTHY_MS = 600_000;
const NAME = /^[A-Za-z0-9-]{1,32}$/u;

export function classicKind(setup: ClassicSetup): PartKind {
  const { access, client, facts, look, settings: memory, settingsOf } = setup;
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
        const isThere = there(LOAD_BALANCER)?.state === 'ready' && there(LISTENER, `${settings.listeners[0]?.port}`);
        return isThere && there(CLASSIC)?.attributes['isReplaced'] !== false ? [] : undefined;
      }
      const { extra, named } = settings.groups;
      const own = named.length > 0 ? named : there(SECURITY_GROUP)?.id;
      if (own === undefined) return undefined;
      const current = there(CLASSIC)?.attributes['subnets'] as readonly string[] | undefined;
      const securityGroups = [...new Set([own, extra].flat())];
      const subnets = facts().subnetsFor(settings, current);
      const touches = touchesOf(desired, settings, there(CLASSIC), subnets);
      return [{ attributes: { ...shapeOf(settings, { securityGroups, subnets }) }, touches }];
    },
    members: ({ backEnds }) => ({ instances: instanceIdsOf(backEnds), access: true }),
    list: async (call, services) => {
      const things = await look.things(call, services);
      const leaving = (services ?? []).filter(({ annotations }) => annotations[annotationRows.type.name] === 'nlb');
      const names = new Set(leaving.map(({ uid }) => loadBalancerName(uid)));
      await access.learn(
        things.flatMap(({ thing }) => instancesIn(thing)),
        call,
      );
      return Promise.all(things.map((one) => calls.partOf(one, names.has(nameOf(one.thing)), call)));
    },
    read: async (id, call) => {
      if (!NAME.test(id)) throw new CloudError('invalid', `${CLASSIC}: this is no name of one`);
      const thing = await readSurely(id, look.recent.isYoung(id), async () => {
        const answer = await client.elb(call, 'DescribeLoadBalancers', { LoadBalancerNames: [id] });
        return answer.LoadBalancerDescriptions;
      });
      const tags = (await readClassicTags(client, [id], call)).get(id) ?? {};
      return calls.shown({ thing, tags: look.recent.tagsOf(id, tags) }, undefined);
    },
    create: (request, call) => calls.create(request, call),
    update: (id, { attributes, changed }, call) => calls.change(id, shapeFrom(attributes), changed, call),
    claim: async (id, owner, call) => {
      const tags = ownerTags(owner);
      await client.elb(call, 'AddTags', { LoadBalancerNames: [id], Tags: tagList(tags) });
      look.recent.tagged(id, tags);
    },
    delete: async (id, call) => {
      await calls.closeNamed(id, call);
      // Of one that there is not, AWS says the same.
      await client.elb(call, 'DeleteLoadBalancer', { LoadBalancerName: id });
      look.recent.deleted(id);
      memory.forget(id);
      calls.forget(id);
    },
  };
}

/** What `wanted` and `members` have made: a plan is JSON. */
const shapeFrom = (attributes: PartRequest['attributes']): ClassicShape & Members =>
  attributes as unknown as ClassicShape & Members;

class ClassicCalls {
  readonly #setup: ClassicSetup;

  /** Since when Network Load Balancers that come in the place of Classic ones are active, as far as this process has seen. */
  readonly #successors = new Map<string, number>();

  constructor(setup: ClassicSetup) {
    this.#setup = setup;
  }

  async partOf(one: ClassicThing, isLeaving: boolean, call: CallContext): Promise<ListedPart> {
    const { client, settings } = this.#setup;
    const name = nameOf(one.thing);
    const read = async (): Promise<Settings> => {
      const answer = await client.elb(call, 'DescribeLoadBalancerAttributes', { LoadBalancerName: name });
      return settingsIn(answer.LoadBalancerAttributes ?? {});
    };
    const { attributes, ...part } = this.shown(one, await settings.of(name, one.tags, read, call));
    const isReplaced = isLeaving ? await this.#isReplaced(one.thing, call) : undefined;
    return { ...part, attributes: { ...attributes, isReplaced } };
  }

  /**
   * Whether each target group of the Network Load Balancer of its name has targets, where it has instances itself, and a healthy one among
   * them, or has had ten minutes for that.
   */
  async #isReplaced(thing: LoadBalancerDescription, call: CallContext): Promise<boolean> {
    const { client, clock } = this.#setup;
    const name = nameOf(thing);
    try {
      const { LoadBalancers: [successor] = [] } = await client.elbv2(call, 'DescribeLoadBalancers', { Names: [name] });
      const { LoadBalancerArn, State } = successor ?? {};
      if (LoadBalancerArn === undefined || State?.Code !== 'active') return false;
      const now = clock.monotonic();
      const since = this.#successors.get(name) ?? now;
      this.#successors.set(name, since);
      const isLate = now - since >= HEALTHY_MS;
      const groups = await pages(client.elbv2, call, 'DescribeTargetGroups', { LoadBalancerArn });
      const health = await Promise.all(
        groups.map(({ TargetGroupArn = '' }) => client.elbv2(call, 'DescribeTargetHealth', { TargetGroupArn })),
      );
      const isServed = ({ TargetHealthDescriptions: all = [] }: (typeof health)[number]): boolean =>
        all.length === 0
          ? instancesIn(thing).length === 0
          : isLate || all.some(({ TargetHealth }) => TargetHealth?.State === 'healthy');
      return health.length > 0 && health.every(isServed);
    } catch (error) {
      if (!isCloudError(error, 'not-found')) throw error;
      return false;
    }
  }

  shown({ isYoung = false, tags, thing }: ClassicThing, hash: string | undefined): ListedPart {
    const instances = instancesIn(thing).toSorted();
    const shape = shapeIn(thing);
    const { access } = this.#setup;
    const source = access.sourceOf(shape.securityGroups);
    const isOpen = source === undefined || access.isOpen(source, instances);
    const attributes = {
      ...shape,
      vpcId: thing.VPCId,
      tags,
      settings: hash,
      instances,
      access: isOpen,
      dnsName: thing.DNSName,
    };
    return { id: nameOf(thing), owner: ownerIn(tags), state: isYoung ? 'pending' : 'ready', attributes };
  }

  /** What the creation cannot set follows at once; what fails of it the next look finds, and says. */
  async create(request: PartRequest, call: CallContext): Promise<{ readonly id: string }> {
    const { client, look } = this.#setup;
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
    look.recent.created(id, thing, tags);
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
    if (has('securityGroups')) await change.securityGroups(there, shape.securityGroups);
    if (has('subnets')) await change.subnets(there, shape.subnets);
    if (has('listeners')) await change.listeners(there, shape.listeners);
    if (shape.tlsPolicy !== undefined && shape.tlsPolicy !== shapeIn(there).tlsPolicy) {
      await change.tlsPolicy(shape.listeners, shape.tlsPolicy);
    }
    if (has('proxyPorts')) await change.proxyPorts(there, shape.proxyPorts);
    if (has('healthCheck')) await change.healthCheck(shape.healthCheck);
    if (has('settings')) await this.#setSettings(id, shape.settings, call);
    if (has('tags')) await this.#setTags(id, shape.tags, call);
    if (has('instances') || has('access')) {
      await change.instances(there, shape.instances, this.#setup.access.sourceOf(shape.securityGroups));
    }
    const { securityGroups: before } = shapeIn(there);
    const isLeft = !shape.securityGroups.includes(this.#setup.access.sourceOf(before) ?? '');
    if (has('securityGroups') && isLeft) await this.closeNamed(id, call, before);
  }

  forget(id: string): void {
    this.#successors.delete(id);
  }

  /** A group that the Service or the config has named stays: that nodes let it in goes with the last load balancer that has it. */
  async closeNamed(id: string, call: CallContext, groups?: readonly string[]): Promise<void> {
    const { access, client } = this.#setup;
    const all = await pages(client.elb, call, 'DescribeLoadBalancers', { PageSize: 400 });
    const sourceOf = (one: LoadBalancerDescription | undefined): string | undefined =>
      access.sourceOf(one?.SecurityGroups ?? []);
    const source = groups ? access.sourceOf(groups) : sourceOf(all.find((one) => nameOf(one) === id));
    const isUsed = all.some((one) => nameOf(one) !== id && sourceOf(one) === source);
    if (source !== undefined && !isUsed) await access.withdraw(source, call);
  }

  #read(id: string, change: ClassicChange): Promise<LoadBalancerDescription> {
    return readSurely(id, this.#setup.look.recent.isYoung(id), () => change.read());
  }

  /** The attributes first: a hash that stands there says that they are so. */
  async #setSettings(LoadBalancerName: string, settings: Settings, call: CallContext): Promise<void> {
    const { client, look, settings: memory } = this.#setup;
    const LoadBalancerAttributes = attributesFor(settings);
    await client.elb(call, 'ModifyLoadBalancerAttributes', { LoadBalancerName, LoadBalancerAttributes });
    const tags = { [SETTINGS_TAG]: settingsHash(settings) };
    await client.elb(call, 'AddTags', { LoadBalancerNames: [LoadBalancerName], Tags: tagList(tags) });
    look.recent.tagged(LoadBalancerName, tags);
    memory.written(LoadBalancerName);
  }

  async #setTags(id: string, wanted: Tags, call: CallContext): Promise<void> {
    const { client, look } = this.#setup;
    const there = look.recent.tagsOf(id, (await readClassicTags(client, [id], call)).get(id) ?? {});
    const { remove, set } = tagChanges(there, wanted);
    const LoadBalancerNames = [id];
    if (Object.keys(set).length > 0) await client.elb(call, 'AddTags', { LoadBalancerNames, Tags: tagList(set) });
    if (remove.length > 0) {
      await client.elb(call, 'RemoveTags', { LoadBalancerNames, Tags: remove.map((Key) => ({ Key })) });
    }
    look.recent.tagged(id, set, remove);
  }
}
