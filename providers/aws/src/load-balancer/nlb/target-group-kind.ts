/** Target groups: one a node port, with the machines behind it. What AWS cannot change is in the key, so that another one is there before the old one goes. */
import { asError, CloudError, type BackEnd, type CallContext, type LoadBalancerPart } from '@outrigger/cloud-provider';
import type { Attributes, Begun, ListedPart, PartKind, PartRequest, ThereParts } from '@outrigger/provider-kit';
import { awsCodeOf } from '../../client/aws-errors.ts';
import type { TargetGroup } from '../../client/generated/elbv2.ts';
import type { Listener } from '../annotations/listeners.ts';
import type { ServiceSettings } from '../annotations/service-settings.ts';
import { LISTENER, LOAD_BALANCER, TARGET_GROUP } from '../frame.ts';
import { targetGroupName } from '../names.ts';
import { groupArnOf } from '../observe/elbv2-look.ts';
import type { Tagged } from '../observe/recent-changes.ts';
import { SETTINGS_TAG, settingsHash, type Settings } from '../observe/settings-memory.ts';
import { elbv2Tagging, type Tagging } from '../observe/tagging.ts';
import { hasTags, ownerIn, tagList, tagsIn, type Tags } from '../ownership.ts';
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
import { changeTargets } from './change-targets.ts';
import { settingsFor, usualSettings } from './target-group-settings.ts';

type Protocol = NonNullable<TargetGroup['Protocol']>;
type CheckProtocol = NonNullable<TargetGroup['HealthCheckProtocol']>;

/** Of the key. */
interface Fixed {
  readonly protocol: Protocol;
  readonly nodePort: number;
  readonly ipAddressType: 'ipv4' | 'ipv6';
  readonly checkProtocol: CheckProtocol;
}

interface Check {
  /** `traffic-port`, or a number. */
  readonly port: string;
  readonly path: string | null;
  readonly interval: number;
  /** `null`: that of AWS, whatever it is. */
  readonly timeout: number | null;
  readonly healthy: number;
  readonly unhealthy: number;
}

interface Shape extends Fixed {
  readonly check: Check;
  readonly settings: Settings;
  readonly tags: Tags;
  /** IDs of instances, sorted. */
  readonly targets: readonly string[];
  /** The instances let the load balancers in. */
  readonly isOpen: boolean | undefined;
}

const ZONE_LABEL = 'topology.kubernetes.io/zone';
const ARN = /^arn:[a-z-]+:elasticloadbalancing:[a-z0-9-]+:\d+:targetgroup\/[\w-]+\/\w+$/u;

export function targetGroupKind(setup: NlbSetup): PartKind {
  const { access, client, instanceIdsOf, inUse, look, settings: memory, targets } = setup;
  const tagging = elbv2Tagging(client, look.targetGroups);
  const calls = new TargetGroupCalls(setup, tagging);
  return {
    kind: TARGET_GROUP,
    compare: {
      check: sameCheck,
      settings: (there, wanted) => there === settingsHash(wanted as Settings),
      tags: (there, wanted) => hasTags(there as Tags, wanted as Tags),
      targets: sameSet,
    },
    isPredecessors: ({ attributes }, service) => isMadeByPredecessor(setup, attributes, service),
    wanted: (desired, there) =>
      wantedOf(setup, desired, there, (settings) => {
        // Of a load balancer without a group, rules of its own let it in.
        const isOpen = hasNoGroups(there(LOAD_BALANCER)?.attributes) ? undefined : true;
        const all = new Map<string, Attributes>();
        for (const one of settings.listeners) all.set(currentKey(one, settings, there), { isOpen });
        for (const listener of settings.listeners) {
          const fixed = fixedOf(listener, settings);
          const shape: Omit<Shape, 'targets'> = {
            ...fixed,
            check: checkOf(settings),
            settings: settingsFor(fixed.protocol, desired.service),
            tags: settings.tags,
            isOpen,
          };
          all.set(keyOf(fixed), { ...shape });
        }
        return [...all].map(([key, attributes]) => ({ key, attributes }));
      }),
    members: ({ backEnds }) => ({ targets: instanceIdsOf(backEnds) }),
    list: async (call, services) => {
      const { targetGroups } = await look.things(call, services);
      const isRead = services !== undefined;
      return Promise.all(targetGroups.map((one) => calls.partOf(one, isRead, call)));
    },
    read: async (id, call) => {
      if (!ARN.test(id)) throw new CloudError('invalid', `${TARGET_GROUP}: this is no ARN of a target group`);
      const thing = await readSurely(id, look.targetGroups.isYoung(id), async () => {
        const { TargetGroups } = await client.elbv2(call, 'DescribeTargetGroups', { TargetGroupArns: [id] });
        return TargetGroups;
      });
      return shownAs({ thing, tags: await tagging.of(id, call) }, undefined, undefined);
    },
    create: (request, call) => calls.create(request, call),
    update: (id, request, call) => calls.update(id, request, call),
    delete: async (id, call): Promise<Begun | void> => {
      // The last of the cluster stays until the shared group has gone: by it the next process finds what is left to do.
      const { sharedId } = access;
      const isLast = sharedId !== undefined && !look.usesGroup(sharedId);
      if (isLast && !(await access.releaseShared(call))) return inUse.securityGroup(sharedId);
      // Of others, which have come to use it meanwhile, the last waits as long as the first.
      if (sharedId !== undefined) inUse.done(sharedId);
      try {
        await client.elbv2(call, 'DeleteTargetGroup', { TargetGroupArn: id });
      } catch (error) {
        if (awsCodeOf(error) !== 'ResourceInUse') throw error;
        return inUse.targetGroup(id, asError(error));
      }
      look.targetGroups.deleted(id);
      memory.forget(id);
      targets.forget(id);
      setup.leftOut.forget(id);
    },
    claim: (id, owner, call) => tagging.claim(id, owner, call),
  };
}

class TargetGroupCalls {
  readonly #setup: NlbSetup;
  readonly #tagging: Tagging;

  constructor(setup: NlbSetup, tagging: Tagging) {
    this.#setup = setup;
    this.#tagging = tagging;
  }

  async partOf(one: Tagged<TargetGroup>, isRead: boolean, call: CallContext): Promise<ListedPart> {
    const { access, client, leftOut, look, settings, targets } = this.#setup;
    const arn = groupArnOf(one.thing);
    if (!isRead || one.isDeleted || (ownerIn(one.tags) && !look.isOwn(one.tags)))
      return shownAs(one, undefined, undefined);
    const read = async (): Promise<Settings> => {
      const { Attributes = [] } = await client.elbv2(call, 'DescribeTargetGroupAttributes', { TargetGroupArn: arn });
      const all = tagsIn(Attributes);
      return Object.fromEntries(
        Object.keys(usualSettings(one.thing.Protocol ?? 'TCP')).map((name) => [name, all[name] ?? '']),
      );
    };
    const [hash, ids] = await Promise.all([settings.of(arn, one.tags, read, call), targets.of(arn, call)]);
    const { sharedId, usesShared } = access;
    if (usesShared && ids.length > 0) await access.learn(ids, call);
    const judged = leftOut.without(arn, ids);
    const isOpen = !usesShared || ids.length === 0 || (sharedId !== undefined && access.isOpen(sharedId, judged));
    return shownAs(one, hash, { ids: leftOut.with(arn, ids), isOpen, leftOut: leftOut.of(arn, ids) });
  }

  async create(request: PartRequest, call: CallContext): Promise<{ readonly id: string }> {
    const { client, facts, look, targets } = this.#setup;
    const { check, checkProtocol, ipAddressType, nodePort, protocol, settings } = shapeIn(request.attributes);
    const hash = settingsHash(settings);
    const isUsual = hash === settingsHash(usualSettings(protocol));
    const tags = { ...tagsOfRequest(this.#setup, request), ...(isUsual && { [SETTINGS_TAG]: hash }) };
    const { TargetGroups } = await client.elbv2(call, 'CreateTargetGroup', {
      Name: targetGroupName(request.owner.uid, request.key),
      Protocol: protocol,
      Port: nodePort,
      VpcId: facts().vpcId,
      TargetType: 'instance',
      IpAddressType: ipAddressType,
      HealthCheckEnabled: true,
      HealthCheckProtocol: checkProtocol,
      ...checkInput(check),
      Tags: tagList(tags),
    });
    const thing = made('CreateTargetGroup', TargetGroups);
    const arn = groupArnOf(thing);
    look.targetGroups.created(arn, thing, tags);
    // Of one that was there already, from a process that has just died, some may be left for as long as that is believed.
    targets.changed(arn, []);
    return { id: arn };
  }

  async update(
    id: string,
    { attributes, changed, desired, owner }: PartRequest & { readonly changed: readonly string[] },
    call: CallContext,
  ): Promise<void> {
    const { client, instanceIdsOf } = this.#setup;
    const { check, checkProtocol, settings, tags, targets } = shapeIn(attributes);
    const arn = { TargetGroupArn: id };
    if (changed.includes('check')) {
      await client.elbv2(call, 'ModifyTargetGroup', {
        ...arn,
        HealthCheckProtocol: checkProtocol,
        ...checkInput(check),
      });
    }
    if (changed.includes('settings')) {
      await client.elbv2(call, 'ModifyTargetGroupAttributes', { ...arn, Attributes: tagList(settings) });
      await this.#setup.settings.written(id, settings, this.#tagging, call);
    }
    if (changed.includes('tags')) await this.#tagging.follow(id, tags, call);
    const opens = changed.includes('isOpen');
    // All are tried together: who is left out is known of the last try alone.
    if (!opens && !changed.includes('targets')) return;
    const zoneOf = zonesIn(desired.backEnds, instanceIdsOf);
    await changeTargets(this.#setup, id, { owner, wanted: targets, opens, zoneOf }, call);
  }
}

/** As nodes are labelled; asked seldom, so gone through when it is. */
function zonesIn(
  backEnds: readonly BackEnd[],
  idsOf: NlbSetup['instanceIdsOf'],
): (instanceId: string) => string | undefined {
  let zones: ReadonlyMap<string, string | undefined> | undefined;
  return (id) => {
    zones ??= new Map(
      backEnds.flatMap((one) => idsOf([one]).map((instanceId) => [instanceId, one.node.labels[ZONE_LABEL]])),
    );
    return zones.get(id);
  };
}

/** What `wanted` and `members` have said. */
function shapeIn(attributes: Attributes): Shape {
  return attributes as unknown as Shape;
}

function fixedOf({ nodePort, targetProtocol }: Listener, { families, health }: ServiceSettings): Fixed {
  const isUdp = targetProtocol === 'UDP' || targetProtocol === 'TCP_UDP';
  const isV6 = !families.includes('IPv4') || (isUdp && families.includes('IPv6'));
  return {
    protocol: targetProtocol as Protocol,
    nodePort,
    ipAddressType: isV6 ? 'ipv6' : 'ipv4',
    checkProtocol: health.protocol as CheckProtocol,
  };
}

export function targetGroupKey(listener: Listener, settings: ServiceSettings): string {
  return keyOf(fixedOf(listener, settings));
}

/** Of the one that the listener is to lead to for now: that to which it leads, if that has targets, until its own has some too. */
export function currentKey(listener: Listener, settings: ServiceSettings, there: ThereParts): string {
  const key = targetGroupKey(listener, settings);
  if (hasTargets(there(TARGET_GROUP, key))) return key;
  const id = there(LISTENER, `${listener.port}`)?.attributes['targetGroup'];
  const current = there(TARGET_GROUP, id as string | undefined);
  return hasTargets(current) ? (current.attributes['key'] as string) : key;
}

/** A target that is left out is shown among `targets` only where another one serves: so any target at all means that one serves. */
function hasTargets(group: LoadBalancerPart | undefined): group is LoadBalancerPart {
  return ((group?.attributes['targets'] ?? []) as readonly string[]).length > 0;
}

function keyOf({ checkProtocol, ipAddressType, nodePort, protocol }: Fixed): string {
  return `${protocol}-${nodePort}-${ipAddressType}-${checkProtocol}`;
}

function checkOf({ health }: ServiceSettings): Check {
  return {
    port: health.port === undefined ? 'traffic-port' : `${health.port}`,
    path: health.path ?? null,
    interval: health.interval,
    timeout: health.timeout ?? null,
    healthy: health.healthyThreshold,
    unhealthy: health.unhealthyThreshold,
  };
}

function sameCheck(there: unknown, wanted: unknown): boolean {
  const [a, b] = [there as Check, wanted as Check];
  const isSame = (name: 'port' | 'path' | 'interval' | 'healthy' | 'unhealthy'): boolean => a[name] === b[name];
  const timeout = b.timeout === null || a.timeout === b.timeout;
  return timeout && isSame('port') && isSame('path') && isSame('interval') && isSame('healthy') && isSame('unhealthy');
}

function checkInput({ healthy, interval, path, port, timeout, unhealthy }: Check): object {
  return {
    HealthCheckPort: port,
    HealthCheckIntervalSeconds: interval,
    HealthyThresholdCount: healthy,
    UnhealthyThresholdCount: unhealthy,
    ...(path !== null && { HealthCheckPath: path }),
    ...(timeout !== null && { HealthCheckTimeoutSeconds: timeout }),
  };
}

function shownAs(
  { isDeleted, tags, thing }: Tagged<TargetGroup>,
  hash: string | undefined,
  targets: (Record<'ids' | 'leftOut', readonly string[]> & { readonly isOpen: boolean }) | undefined,
): ListedPart {
  const fixed: Fixed = {
    protocol: thing.Protocol ?? 'TCP',
    nodePort: thing.Port ?? 0,
    ipAddressType: thing.IpAddressType ?? 'ipv4',
    checkProtocol: thing.HealthCheckProtocol ?? 'TCP',
  };
  const check: Check = {
    port: thing.HealthCheckPort ?? 'traffic-port',
    path: thing.HealthCheckPath || null,
    interval: thing.HealthCheckIntervalSeconds ?? 0,
    timeout: thing.HealthCheckTimeoutSeconds ?? null,
    healthy: thing.HealthyThresholdCount ?? 0,
    unhealthy: thing.UnhealthyThresholdCount ?? 0,
  };
  return {
    id: groupArnOf(thing),
    key: keyOf(fixed),
    owner: ownerIn(tags),
    state: isDeleted ? 'deleting' : 'ready',
    attributes: {
      ...fixed,
      vpcId: thing.VpcId,
      check,
      settings: hash,
      tags,
      targets: targets?.ids,
      isOpen: targets?.isOpen,
      leftOut: targets?.leftOut,
    },
  };
}
