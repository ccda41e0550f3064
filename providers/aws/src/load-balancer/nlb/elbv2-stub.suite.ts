/** ELBv2 in a few maps: enough to see which requests are made, in which order, and what is left when one of them fails. */
import { CloudError, type CallContext } from '@outrigger/cloud-provider';
import type { FakeClock } from '@outrigger/testing';
import type { AwsClient } from '../../client/aws-client.ts';
import type { Listener, LoadBalancer, Tag, TargetGroup } from '../../client/generated/elbv2.ts';
import { targetGroupAttributesOf } from '../annotations/target-group-attributes.ts';
import { USUAL } from './load-balancer-shape.ts';

interface Stored<Thing> {
  thing: Thing;
  /** Lists and reads know it from then on. */
  readonly visibleAt: number;
}

type Input = Readonly<Record<string, never>>;

export class Elbv2Stub {
  readonly loadBalancers: Map<string, Stored<LoadBalancer>> = new Map();
  readonly targetGroups: Map<string, Stored<TargetGroup>> = new Map();
  readonly listeners: Map<string, Stored<Listener>> = new Map();
  readonly tags: Map<string, Record<string, string>> = new Map();
  readonly targets: Map<string, Map<string, string>> = new Map();
  readonly attributes: Map<string, Record<string, string>> = new Map();
  readonly calls: string[] = [];
  /** Ids that `RegisterTargets` refuses. */
  readonly stopped: Set<string> = new Set();
  /** Those that are no IDs to it: it names one of them. */
  readonly malformed: Set<string> = new Set();
  /** Those that are targets too often. */
  readonly tooOften: Set<string> = new Set();
  /** Of a target group. */
  mostTargets = 1_000;
  /** For so long what was made is not known yet. */
  lagMs = 0;
  /** For so long a load balancer is made. */
  provisionMs = 0;
  /** How many writes are let through until one fails; `undefined`: all. */
  fault: { after: number; readonly takesEffect: boolean } | undefined;
  /** After each write. */
  onWrite: () => void = () => {};
  /** Before each request; what it throws is the answer. */
  onSend: (operation: string) => void = () => {};
  readonly #clock: FakeClock;
  readonly #readyAt = new Map<string, number>();
  #next = 1;

  constructor(clock: FakeClock) {
    this.#clock = clock;
  }

  get client(): AwsClient {
    const elbv2 = async (_call: CallContext, operation: string, input: object): Promise<object> => {
      await Promise.resolve();
      return this.#send(operation, input as Input);
    };
    return { elbv2 } as unknown as AwsClient;
  }

  counts(): Readonly<Record<string, number>> {
    return Object.fromEntries([...Map.groupBy(this.calls, (one) => one)].map(([name, all]) => [name, all.length]));
  }

  writes(): readonly string[] {
    return this.calls.filter((one) => !one.startsWith('Describe'));
  }

  targetsOf(arn: string): readonly string[] {
    return [...(this.targets.get(arn) ?? [])].filter(([, state]) => state !== 'draining').map(([id]) => id);
  }

  #send(operation: string, input: Input): object {
    this.calls.push(operation);
    this.onSend(operation);
    const isWrite = !operation.startsWith('Describe');
    if (isWrite && this.fault && this.fault.after-- === 0) {
      const { takesEffect } = this.fault;
      this.fault = undefined;
      if (takesEffect) this.#answer(operation, input);
      throw new CloudError('unavailable', `${operation}: the answer is lost`);
    }
    try {
      return this.#answer(operation, input);
    } finally {
      if (isWrite) this.onWrite();
    }
  }

  #answer(operation: string, input: Readonly<Record<string, unknown>>): object {
    const text = (name: string): string => input[name] as string;
    const list = (name: string): readonly string[] | undefined => input[name] as readonly string[] | undefined;
    const arnAt = (kind: string): string =>
      `arn:aws:elasticloadbalancing:eu-1:1:${kind}/${(this.#next++).toString(16)}`;
    switch (operation) {
      case 'DescribeLoadBalancers': {
        const all = this.#seen(this.loadBalancers, list('LoadBalancerArns'), 'LoadBalancerNotFound');
        return {
          LoadBalancers: all.map((one) => ({ ...one, State: { Code: this.#stateOf(one.LoadBalancerArn ?? '') } })),
        };
      }
      case 'DescribeTargetGroups':
        return {
          TargetGroups: this.#seen(this.targetGroups, list('TargetGroupArns'), 'TargetGroupNotFound').map((one) => ({
            ...one,
            LoadBalancerArns: this.#usersOf(one.TargetGroupArn ?? ''),
          })),
        };
      case 'DescribeListeners': {
        if (text('LoadBalancerArn')) this.#seen(this.loadBalancers, [text('LoadBalancerArn')], 'LoadBalancerNotFound');
        const all = this.#seen(this.listeners, list('ListenerArns'), 'ListenerNotFound');
        return {
          Listeners: all.filter((one) => !text('LoadBalancerArn') || one.LoadBalancerArn === text('LoadBalancerArn')),
        };
      }
      case 'DescribeTags': {
        const arns = list('ResourceArns') ?? [];
        if (arns.length > 20) throw new CloudError('invalid', 'at most 20 ARNs');
        for (const arn of arns) this.#seen(this.#storeOf(arn), [arn], 'NotFound');
        return {
          TagDescriptions: arns.map((ResourceArn) => ({
            ResourceArn,
            Tags: Object.entries(this.tags.get(ResourceArn) ?? {}).map(([Key, Value]) => ({ Key, Value })),
          })),
        };
      }
      case 'DescribeTargetHealth':
        this.#seen(this.targetGroups, [text('TargetGroupArn')], 'TargetGroupNotFound');
        return {
          TargetHealthDescriptions: [...(this.targets.get(text('TargetGroupArn')) ?? [])].map(([Id, State]) => ({
            Target: { Id },
            TargetHealth: { State },
          })),
        };
      case 'DescribeLoadBalancerAttributes':
      case 'DescribeTargetGroupAttributes': {
        const all = this.attributes.get(text('LoadBalancerArn') ?? text('TargetGroupArn')) ?? {};
        return { Attributes: Object.entries(all).map(([Key, Value]) => ({ Key, Value })) };
      }
      case 'CreateLoadBalancer': {
        const twin = [...this.loadBalancers.values()].find(({ thing }) => thing.LoadBalancerName === text('Name'));
        if (twin) {
          if (twin.thing.Scheme !== text('Scheme')) throw awsError('conflict', 'DuplicateLoadBalancerName');
          return { LoadBalancers: [twin.thing] };
        }
        const arn = arnAt(`loadbalancer/net/${text('Name')}`);
        const mappings = input['SubnetMappings'] as readonly Mapping[];
        const thing: LoadBalancer = {
          LoadBalancerArn: arn,
          LoadBalancerName: text('Name'),
          DNSName: `${text('Name')}.elb.eu-1.amazonaws.com`,
          Type: 'network',
          Scheme: text('Scheme') as 'internal',
          IpAddressType: text('IpAddressType') as 'ipv4',
          EnablePrefixForIpv6SourceNat: (text('EnablePrefixForIpv6SourceNat') ?? 'off') as 'off',
          SecurityGroups: list('SecurityGroups') ?? [],
          AvailabilityZones: mappings.map(zoneOf),
        };
        this.attributes.set(arn, { ...USUAL });
        this.#add(this.loadBalancers, arn, thing, input);
        this.#readyAt.set(arn, this.#clock.monotonic() + this.provisionMs);
        return { LoadBalancers: [{ ...thing, State: { Code: this.#stateOf(arn) } }] };
      }
      case 'CreateTargetGroup': {
        const twin = [...this.targetGroups.values()].find(({ thing }) => thing.TargetGroupName === text('Name'));
        if (twin) return { TargetGroups: [twin.thing] };
        const arn = arnAt(`targetgroup/${text('Name')}`);
        const thing = { ...input, TargetGroupArn: arn, TargetGroupName: text('Name'), Tags: undefined } as TargetGroup;
        this.attributes.set(arn, { ...targetGroupAttributesOf({ ports: [] }, undefined) });
        this.#add(this.targetGroups, arn, { HealthCheckTimeoutSeconds: 10, ...thing }, input);
        return { TargetGroups: [thing] };
      }
      case 'CreateListener': {
        const parent = text('LoadBalancerArn');
        if (!this.loadBalancers.has(parent)) throw awsError('not-found', 'LoadBalancerNotFound');
        const isTaken = [...this.listeners.values()].some(
          ({ thing }) => thing.LoadBalancerArn === parent && thing.Port === Number(input['Port']),
        );
        if (isTaken) throw awsError('conflict', 'DuplicateListener');
        const arn = arnAt(`${parent.split(':').at(-1)?.replace('loadbalancer', 'listener')}`);
        const thing = { ...input, ListenerArn: arn, Tags: undefined } as unknown as Listener;
        this.#add(this.listeners, arn, thing, input);
        return { Listeners: [thing] };
      }
      case 'ModifyListener':
        this.#change(this.listeners, text('ListenerArn'), input);
        return {};
      case 'ModifyTargetGroup':
        this.#change(this.targetGroups, text('TargetGroupArn'), input);
        return {};
      case 'SetSubnets': {
        const mappings = input['SubnetMappings'] as readonly Mapping[];
        this.#change(this.loadBalancers, text('LoadBalancerArn'), { AvailabilityZones: mappings.map(zoneOf) });
        return {};
      }
      case 'SetSecurityGroups':
      case 'SetIpAddressType':
        this.#change(this.loadBalancers, text('LoadBalancerArn'), input);
        return {};
      case 'ModifyLoadBalancerAttributes':
      case 'ModifyTargetGroupAttributes': {
        const arn = text('LoadBalancerArn') ?? text('TargetGroupArn');
        const all = (input['Attributes'] as readonly Tag[]).map(({ Key, Value = '' }) => [Key, Value]);
        this.attributes.set(arn, { ...this.attributes.get(arn), ...Object.fromEntries(all) });
        return {};
      }
      case 'AddTags':
        for (const arn of list('ResourceArns') ?? []) {
          this.tags.set(arn, { ...this.tags.get(arn), ...recordOf(input['Tags'] as readonly Tag[]) });
        }
        return {};
      case 'RemoveTags':
        for (const arn of list('ResourceArns') ?? [])
          for (const key of list('TagKeys') ?? []) delete this.tags.get(arn)?.[key];
        return {};
      case 'RegisterTargets': {
        const ids = (input['Targets'] as readonly { Id: string }[]).map(({ Id }) => Id);
        if (ids.length > 100) throw new CloudError('invalid', 'at most 100 targets');
        const wrong = ids.find((id) => this.malformed.has(id));
        if (wrong !== undefined) throw awsError('invalid', 'ValidationError', `Instance ID '${wrong}' is not valid`);
        const bad = ids.filter((id) => this.stopped.has(id));
        if (bad.length > 0) throw awsError('invalid', 'InvalidTarget', `not running: ${bad.join(', ')}`);
        if (ids.some((id) => this.tooOften.has(id)))
          throw awsError(
            'quota',
            'TooManyRegistrationsForTargetId',
            'the maximum of registrations of a target is reached',
          );
        const group = this.targets.get(text('TargetGroupArn')) ?? new Map<string, string>();
        const all = new Set([...this.targetsOf(text('TargetGroupArn')), ...ids]);
        if (all.size > this.mostTargets)
          throw awsError('quota', 'TooManyTargets', 'the maximum of targets in the group is reached');
        for (const id of ids) group.set(id, 'healthy');
        this.targets.set(text('TargetGroupArn'), group);
        return {};
      }
      case 'DeregisterTargets':
        for (const { Id } of input['Targets'] as readonly { Id: string }[]) {
          this.targets.get(text('TargetGroupArn'))?.set(Id, 'draining');
        }
        return {};
      case 'DeleteLoadBalancer':
        this.loadBalancers.delete(text('LoadBalancerArn'));
        for (const [arn, { thing }] of this.listeners)
          if (thing.LoadBalancerArn === text('LoadBalancerArn')) this.listeners.delete(arn);
        return {};
      case 'DeleteListener':
        this.listeners.delete(text('ListenerArn'));
        return {};
      case 'DeleteTargetGroup':
        if (this.#usersOf(text('TargetGroupArn')).length > 0) throw awsError('conflict', 'ResourceInUse');
        this.targetGroups.delete(text('TargetGroupArn'));
        return {};
      default:
        throw new Error(`the stub has no ${operation}`);
    }
  }

  #stateOf(arn: string): string {
    return (this.#readyAt.get(arn) ?? 0) > this.#clock.monotonic() ? 'provisioning' : 'active';
  }

  #usersOf(group: string): readonly string[] {
    return [...this.listeners.values()]
      .filter(({ thing }) => thing.DefaultActions?.some(({ TargetGroupArn }) => TargetGroupArn === group))
      .map(({ thing }) => thing.LoadBalancerArn ?? '');
  }

  #storeOf(arn: string): Map<string, Stored<unknown>> {
    if (arn.includes(':loadbalancer/')) return this.loadBalancers;
    return arn.includes(':targetgroup/') ? this.targetGroups : this.listeners;
  }

  #seen<Thing>(store: Map<string, Stored<Thing>>, arns: readonly string[] | undefined, code: string): readonly Thing[] {
    const seen = [...store].filter(([, { visibleAt }]) => visibleAt <= this.#clock.monotonic());
    if (!arns) return seen.map(([, { thing }]) => thing);
    return arns.map((arn) => {
      const found = seen.find(([id]) => id === arn);
      if (!found) throw awsError('not-found', code);
      return found[1].thing;
    });
  }

  #add<Thing>(
    store: Map<string, Stored<Thing>>,
    arn: string,
    thing: Thing,
    input: Readonly<Record<string, unknown>>,
  ): void {
    store.set(arn, { thing, visibleAt: this.#clock.monotonic() + this.lagMs });
    this.tags.set(arn, recordOf((input['Tags'] ?? []) as readonly Tag[]));
  }

  #change<Thing extends object>(store: Map<string, Stored<Thing>>, arn: string, change: object): void {
    const stored = store.get(arn);
    if (!stored) throw awsError('not-found', 'NotFound');
    stored.thing = { ...stored.thing, ...change };
  }
}

function awsError(
  code: 'not-found' | 'conflict' | 'invalid' | 'quota',
  apiCode: string,
  message: string = apiCode,
): Error {
  return Object.assign(new CloudError(code, message), { status: 400, apiCode, detail: { message } });
}

function recordOf(tags: readonly Tag[]): Record<string, string> {
  return Object.fromEntries(tags.map(({ Key, Value = '' }) => [Key, Value]));
}

interface Mapping {
  readonly SubnetId: string;
  readonly AllocationId?: string;
  readonly PrivateIPv4Address?: string;
}

function zoneOf({ SubnetId, ...address }: Mapping): object {
  return { SubnetId, ...(Object.keys(address).length > 0 && { LoadBalancerAddresses: [address] }) };
}
