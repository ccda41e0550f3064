/** The Network Load Balancer itself: scheme, zones, addresses, security groups, attributes. */
import { CloudError, type CallContext, type DesiredLoadBalancer } from '@outrigger/cloud-provider';
import type { Attributes, ListedPart, PartKind, PartRequest } from '@outrigger/provider-kit';
import type { LoadBalancer, TargetGroup } from '../../client/generated/elbv2.ts';
import type { ServiceSettings } from '../annotations/service-settings.ts';
import { LOAD_BALANCER, SECURITY_GROUP, SHARED_GROUP, TARGET_GROUP } from '../frame.ts';
import { hasToWait, WaitsError, type Closed } from '../left-out.ts';
import { maySee, touchesOf } from '../named-things.ts';
import { loadBalancerName } from '../names.ts';
import { arnOf, groupArnOf } from '../observe/elbv2-look.ts';
import { RecentChanges, type Tagged } from '../observe/recent-changes.ts';
import { SETTINGS_TAG, settingsHash, type Settings } from '../observe/settings-memory.ts';
import { elbv2Tagging, type Tagging } from '../observe/tagging.ts';
import { hasTags, ownerIn, tagList, tagsIn, type Tags } from '../ownership.ts';
import { hasNodeRules, nodeRulesOf, type NodeRules, type SeenNodeRules } from '../security-groups/node-rules.ts';
import {
  hasNoGroups,
  isMadeByPredecessor,
  made,
  readSurely,
  sameSet,
  tagsOfRequest,
  wantedOf,
  type NlbSetup,
} from './nlb-setup.ts';
import {
  attributesOf,
  groupsOf,
  managedOf,
  mappingOf,
  needsSourceNat,
  shapeIn,
  subnetsOf,
  USUAL,
  withGivenAddresses,
  withPresentAddresses,
  zonesOf,
  type Shape,
  type Zone,
} from './load-balancer-shape.ts';

const ARN = /^arn:[a-z-]+:elasticloadbalancing:[a-z0-9-]+:\d+:loadbalancer\/net\/[\w-]+\/\w+$/u;

export function loadBalancerKind(setup: NlbSetup): PartKind {
  const { client, look } = setup;
  const tagging = elbv2Tagging(client, look.loadBalancers);
  const calls = new LoadBalancerCalls(setup, tagging);
  return {
    kind: LOAD_BALANCER,
    // With the last target group the shared security group goes: there is none of a load balancer that has no target group.
    needs: [SECURITY_GROUP, TARGET_GROUP],
    takesRequestsWhilePending: true,
    fixed: ['scheme'],
    compare: {
      zones: (there, wanted) => sameSet(subnetsOf(there), subnetsOf(wanted)),
      securityGroups: sameSet,
      settings: (there, wanted) => there === settingsHash(wanted as Settings),
      tags: (there, wanted) => hasTags(there as Tags, wanted as Tags),
      nodeRules: (there, wanted) => wanted === null || hasNodeRules(there as SeenNodeRules, wanted as NodeRules),
      // Without UDP over IPv6 it may stay on.
      sourceNat: (there, wanted) => there === wanted || wanted === 'off',
    },
    isPredecessors: ({ attributes }, service) => isMadeByPredecessor(setup, attributes, service),
    wanted: (desired, there) =>
      wantedOf(setup, desired, there, (settings) => {
        const part = there(LOAD_BALANCER);
        const present = part?.attributes;
        const groups = groupsOf(settings, there(SECURITY_GROUP)?.id, setup.access.usesShared);
        if (!groups && !hasNoGroups(present)) return undefined;
        const subnets = setup.facts().subnetsFor(settings, present && subnetsOf(present['zones']), maySee(desired));
        const scheme = settings.isInternal ? 'internal' : 'internet-facing';
        const zones = withPresentAddresses(zonesOf(settings, subnets), scheme, part);
        const shape: Shape = {
          scheme,
          ipAddressType: settings.families.includes('IPv6') ? 'dualstack' : leastOf(present),
          zones,
          sourceNat: needsSourceNat(settings) ? 'on' : 'off',
          // One that was made without any can never get one.
          securityGroups: hasNoGroups(present) ? undefined : groups,
          nodeRules: nodeRulesFor(setup, settings, zones, present),
          settings: attributesOf(settings),
          tags: settings.tags,
        };
        const touches = touchesOf(desired, settings, part, subnets);
        return [{ attributes: { ...shape }, touches }];
      }),
    list: async (call, services) => {
      const { loadBalancers } = await look.things(call, services);
      return Promise.all(loadBalancers.map((one) => calls.partOf(one, call)));
    },
    read: async (id, call) => {
      if (!ARN.test(id)) throw new CloudError('invalid', `${LOAD_BALANCER}: this is no ARN of a Network Load Balancer`);
      const thing = await readSurely(id, look.loadBalancers.isYoung(id), async () => {
        const { LoadBalancers } = await client.elbv2(call, 'DescribeLoadBalancers', { LoadBalancerArns: [id] });
        return LoadBalancers;
      });
      return calls.shown({ thing, tags: await tagging.of(id, call) }, undefined, []);
    },
    create: (request, call) => calls.create(request, call),
    update: (id, request, call) => calls.update(id, request, call),
    delete: async (id, call) => {
      const hadNoGroups = look.hasNoGroups(id);
      // Rules for it alone are in groups that are found by the cluster's tag: while that is not known, it has to stay.
      if (hadNoGroups) setup.facts();
      await client.elbv2(call, 'DeleteLoadBalancer', { LoadBalancerArn: id });
      look.loadBalancers.deleted(id);
      setup.settings.forget(id);
      // AWS may refuse: its rules go after it. Where they do not, `clearLeftRules` finds them.
      await setup.access.clearRules(nameIn(id), hadNoGroups, call);
    },
    claim: (id, owner, call) => tagging.claim(id, owner, call),
  };
}

class LoadBalancerCalls {
  readonly #setup: NlbSetup;
  readonly #tagging: Tagging;
  /** With the addresses that this process has asked for. By ARN. */
  readonly #zones: RecentChanges<readonly Zone[]>;

  constructor(setup: NlbSetup, tagging: Tagging) {
    this.#setup = setup;
    this.#tagging = tagging;
    this.#zones = new RecentChanges(setup.clock);
  }

  async partOf(one: Tagged<LoadBalancer>, call: CallContext): Promise<ListedPart> {
    const { access, client, look, settings } = this.#setup;
    const arn = arnOf(one.thing);
    const read = async (): Promise<Settings> => {
      const { Attributes = [] } = await client.elbv2(call, 'DescribeLoadBalancerAttributes', { LoadBalancerArn: arn });
      return managedOf(tagsIn(Attributes));
    };
    if (!look.isOwn(one.tags) || one.isDeleted) return this.shown(one, undefined, []);
    const hash = await settings.of(arn, one.tags, read, call);
    const own = (await look.things(call)).targetGroups
      .filter(({ isDeleted, thing }) => !isDeleted && thing.LoadBalancerArns?.includes(arn))
      .map(({ thing }) => thing);
    const hasGroups = Boolean(one.thing.SecurityGroups?.length);
    const targets = hasGroups ? [] : await this.#targetsOf(own, call);
    if (!hasGroups) await access.learnRules(targets, call);
    const part = this.shown(one, hash, targets);
    const hasIpv6Groups = own.some(({ IpAddressType }) => IpAddressType === 'ipv6');
    return { ...part, attributes: { ...part.attributes, hasIpv6Groups } };
  }

  shown(one: Tagged<LoadBalancer>, hash: string | undefined, instances: readonly string[]): ListedPart {
    const { attributes, ...part } = shownAs(one, hash, this.#setup.access, instances);
    const given = this.#zones.made(part.id);
    const zones = withGivenAddresses(attributes['zones'] as readonly Zone[], given);
    // What the process before this one has asked for is not known here.
    const mayHaveMore = !given && this.#zones.isYoung(part.id);
    return { ...part, attributes: { ...attributes, zones, ...(mayHaveMore && { mayHaveMore }) } };
  }

  /** With the groups that they have: nodes let in by them a load balancer that has none. */
  async #targetsOf(groups: readonly TargetGroup[], call: CallContext): Promise<readonly string[]> {
    const { access, targets } = this.#setup;
    const ids = (await Promise.all(groups.map((one) => targets.of(groupArnOf(one), call)))).flat();
    await access.learn(ids, call);
    return ids;
  }

  async create(request: PartRequest, call: CallContext): Promise<{ readonly id: string }> {
    const { client, look } = this.#setup;
    const { ipAddressType, scheme, securityGroups, settings, sourceNat, zones } = shapeIn(request.attributes);
    const isUsual = settingsHash(settings) === settingsHash(USUAL);
    const tags = {
      ...tagsOfRequest(this.#setup, request),
      ...(isUsual && { [SETTINGS_TAG]: settingsHash(settings) }),
    };
    return this.#withGroups(securityGroups ?? [], call, async (SecurityGroups) => {
      const { LoadBalancers } = await client.elbv2(call, 'CreateLoadBalancer', {
        Name: loadBalancerName(request.owner.uid),
        Type: 'network',
        Scheme: scheme,
        IpAddressType: ipAddressType,
        SubnetMappings: zones.map(mappingOf),
        SecurityGroups,
        ...(sourceNat === 'on' && { EnablePrefixForIpv6SourceNat: sourceNat }),
        Tags: tagList(tags),
      });
      const thing = made('CreateLoadBalancer', LoadBalancers);
      look.loadBalancers.created(arnOf(thing), thing, tags);
      this.#zones.created(arnOf(thing), zones, {});
      return { id: arnOf(thing) };
    });
  }

  async update(
    id: string,
    { attributes, changed, desired }: PartRequest & { readonly changed: readonly string[] },
    call: CallContext,
  ): Promise<void> {
    const { access, client, instanceIdsOf } = this.#setup;
    const { ipAddressType, nodeRules, securityGroups, settings, sourceNat, tags, zones } = shapeIn(attributes);
    const arn = { LoadBalancerArn: id };
    const instances = instanceIdsOf(desired.backEnds);
    let closed: Closed | undefined;
    /** Whether all that are served are let in. */
    const open = async (): Promise<boolean> => {
      closed = (await access.useShared((shared) => access.open(shared, instances, call), call)) ?? closed;
      if (!closed) return true;
      const { TargetGroups = [] } = await client.elbv2(call, 'DescribeTargetGroups', arn);
      return !hasToWait(closed, await this.#targetsOf(TargetGroups, call));
    };
    if (changed.includes('securityGroups') && securityGroups) {
      await this.#withGroups(securityGroups, call, async (SecurityGroups) => {
        // Before the group is there: what comes from it is let in at once.
        if (!access.usesShared || (await open()))
          await client.elbv2(call, 'SetSecurityGroups', { ...arn, SecurityGroups });
      });
    }
    if (changed.includes('zones') || changed.includes('sourceNat')) {
      // Before they are asked for: the answer may be lost.
      this.#zones.created(id, zones, {});
      await client.elbv2(call, 'SetSubnets', {
        ...arn,
        SubnetMappings: zones.map(mappingOf),
        ...(changed.includes('sourceNat') && { IpAddressType: ipAddressType, EnablePrefixForIpv6SourceNat: sourceNat }),
      });
    }
    if (changed.includes('ipAddressType') && !changed.includes('sourceNat')) {
      await client.elbv2(call, 'SetIpAddressType', { ...arn, IpAddressType: ipAddressType });
    }
    // After its subnets: where AWS gives it no others, what asks about health from the old ones is let in still.
    // With a group, its own rules go.
    if (changed.includes('nodeRules') && nodeRules && (!securityGroups || (await open()))) {
      closed = (await access.setRules(nameIn(id), nodeRules, securityGroups ? [] : instances, call)) ?? closed;
    }
    if (changed.includes('settings')) {
      await client.elbv2(call, 'ModifyLoadBalancerAttributes', { ...arn, Attributes: tagList(settings) });
      await this.#setup.settings.written(id, settings, this.#tagging, call);
    }
    if (changed.includes('tags')) {
      const { Listeners = [] } = await client.elbv2(call, 'DescribeListeners', arn);
      const listeners = Listeners.map(({ ListenerArn = '' }) => ListenerArn);
      await this.#tagging.follow(id, tags, call, listeners);
    }
    if (closed) throw new WaitsError(closed.instances, closed.error);
  }

  async #withGroups<T>(
    groups: readonly string[],
    call: CallContext,
    send: (ids: readonly string[]) => Promise<T>,
  ): Promise<T> {
    if (!groups.includes(SHARED_GROUP)) return send(groups);
    const { access } = this.#setup;
    return access.useShared((shared) => send(groups.map((one) => (one === SHARED_GROUP ? shared : one))), call);
  }
}

function shownAs(
  { isDeleted, tags, thing }: Tagged<LoadBalancer>,
  hash: string | undefined,
  access: Pick<NlbSetup['access'], 'rulesFor' | 'sharedId'>,
  instances: readonly string[],
): ListedPart {
  const {
    AvailabilityZones = [],
    DNSName,
    EnablePrefixForIpv6SourceNat = 'off',
    IpAddressType,
    Scheme,
    SecurityGroups = [],
  } = thing;
  const zones = AvailabilityZones.map(({ LoadBalancerAddresses: all = [], SubnetId = '' }): Zone => {
    // That of IPv6 may stand by itself.
    const eip = all.find(({ AllocationId }) => AllocationId)?.AllocationId;
    const address = all.find(({ PrivateIPv4Address }) => PrivateIPv4Address)?.PrivateIPv4Address;
    return { subnet: SubnetId, ...(eip && { eip }), ...(address && { address }) };
  });
  const code = thing.State?.Code;
  const groups = SecurityGroups.map((id) => (id === access.sharedId ? SHARED_GROUP : id)).toSorted();
  return {
    id: arnOf(thing),
    owner: ownerIn(tags),
    state: isDeleted ? 'deleting' : code === 'provisioning' ? 'pending' : code === 'failed' ? 'failed' : 'ready',
    attributes: {
      dnsName: DNSName,
      vpcId: thing.VpcId,
      scheme: Scheme,
      ipAddressType: IpAddressType,
      sourceNat: EnablePrefixForIpv6SourceNat,
      zones: zones.toSorted((a, b) => (a.subnet < b.subnet ? -1 : 1)),
      securityGroups: groups,
      nodeRules: access.rulesFor(thing.LoadBalancerName ?? '', instances),
      settings: hash,
      tags,
    },
  };
}

/** For IPv4 alone. As long as a listener leads to IPv6 targets, AWS refuses a change. */
function leastOf(present: Attributes | undefined): Shape['ipAddressType'] {
  return present?.['hasIpv6Groups'] ? (present['ipAddressType'] as Shape['ipAddressType']) : 'ipv4';
}

/** With a group that is not the shared one yet, those of cloud-provider-aws stay until it has that one. */
function nodeRulesFor(
  { access, facts }: Pick<NlbSetup, 'access' | 'facts'>,
  settings: ServiceSettings,
  zones: readonly Zone[],
  present: Attributes | undefined,
): NodeRules | null {
  if (!access.usesShared) return null;
  if (hasNoGroups(present)) {
    const ranges = facts().rangesOf(zones.map(({ subnet }) => subnet));
    const served = ranges.filter((range) => settings.families.includes(range.includes(':') ? 'IPv6' : 'IPv4'));
    return nodeRulesOf(settings, served);
  }
  const groups = present?.['securityGroups'] as readonly string[] | undefined;
  return groups?.includes(SHARED_GROUP) ? {} : null;
}

/** `arn:…:loadbalancer/net/<name>/<hash>`. */
const nameIn = (arn: string): string => arn.split('/').at(-2) ?? '';

/**
 * Of a load balancer of the Service that has gone, when a process died before the rules for it alone had: its target groups are there until
 * then. `targetGroup`: the one that goes next; where its targets are, rules may be left.
 */
export async function clearLeftRules(
  { access, facts, look, targets }: Pick<NlbSetup, 'access' | 'facts' | 'look' | 'targets'>,
  targetGroup: string,
  { owner, service: { adopt = [], uid } }: DesiredLoadBalancer,
  call: CallContext,
): Promise<void> {
  const adopted = adopt.filter(({ kind }) => kind === LOAD_BALANCER).map(({ id }) => nameIn(id));
  const names = [loadBalancerName(uid), ...adopted];
  if (!access.usesShared || names.some((name) => look.hasNamed(name))) return;
  for (const name of names) {
    if (access.hasCleared(name)) continue;
    try {
      facts();
    } catch (error) {
      // One that had security groups goes without it too.
      if (access.hasOwnGroup(owner)) continue;
      throw error;
    }
    await access.learnRules(await targets.of(targetGroup, call), call);
    await access.clearRules(name, true, call);
  }
}

/** Where clients reach it, of both APIs. */
export function dnsNameOf({ attributes }: { readonly attributes: Attributes }): string | undefined {
  const { dnsName } = attributes;
  return typeof dnsName === 'string' && dnsName !== '' ? dnsName : undefined;
}
