/** Puts into an account what cloud-provider-aws left of one Service, by the official SDK: with its names, tags, rules and policies. */
import {
  AuthorizeSecurityGroupIngressCommand,
  CreateSecurityGroupCommand,
  type IpPermission,
} from '@aws-sdk/client-ec2';
import {
  ConfigureHealthCheckCommand,
  CreateLoadBalancerCommand as CreateClassicCommand,
  CreateLoadBalancerPolicyCommand,
  ModifyLoadBalancerAttributesCommand as ModifyClassicAttributesCommand,
  RegisterInstancesWithLoadBalancerCommand,
  SetLoadBalancerPoliciesForBackendServerCommand,
  SetLoadBalancerPoliciesOfListenerCommand,
} from '@aws-sdk/client-elastic-load-balancing';
import {
  CreateListenerCommand,
  CreateLoadBalancerCommand,
  CreateTargetGroupCommand,
  DescribeTargetGroupAttributesCommand,
  ModifyLoadBalancerAttributesCommand,
  ModifyTargetGroupAttributesCommand,
  RegisterTargetsCommand,
} from '@aws-sdk/client-elastic-load-balancing-v2';
import type { ClassicState, NetworkState, RuleState, TargetGroupState, Values } from './account-state.ts';
import type { AwsReaders } from './end-state.ts';
import type { GoldenService } from './golden.ts';
import type { SeededAccount } from './seed-account.ts';

const PROXY = 'k8s-proxyprotocol-enabled';
const TLS = 'k8s-SSLNegotiationPolicy-';

const tagList = (tags: Values): { Key: string; Value: string }[] =>
  Object.entries(tags).map(([Key, Value]) => ({ Key, Value }));

/** The account is then as it was when {@link GoldenService.made} was read, but for its routes. */
export async function restoreGolden(
  sdk: AwsReaders,
  account: Pick<SeededAccount, 'instances' | 'securityGroupId' | 'subnetIds' | 'vpcId'>,
  golden: GoldenService,
): Promise<void> {
  await new Restoration(sdk, account, golden).run();
}

class Restoration {
  readonly #sdk: AwsReaders;
  readonly #account: Parameters<typeof restoreGolden>[1];
  readonly #golden: GoldenService;
  /** What stands for a recorded ID here. */
  readonly #ids = new Map<string, string>();

  constructor(sdk: AwsReaders, account: Parameters<typeof restoreGolden>[1], golden: GoldenService) {
    [this.#sdk, this.#account, this.#golden] = [sdk, account, golden];
  }

  async run(): Promise<void> {
    const { classicLoadBalancers, networkLoadBalancers, securityGroups, targetGroups } = this.#golden.made;
    this.#rememberAll();
    for (const { description, id, name, tags } of securityGroups) {
      if (!name.startsWith('k8s-')) continue;
      const { GroupId } = await this.#sdk.ec2.send(
        new CreateSecurityGroupCommand({
          GroupName: this.#here(name),
          Description: this.#here(description),
          VpcId: this.#account.vpcId,
          TagSpecifications: [{ ResourceType: 'security-group', Tags: tagList(tags) }],
        }),
      );
      this.#ids.set(id, GroupId ?? '');
    }
    for (const { id, ingress } of securityGroups) {
      for (const rule of ingress) {
        const asked = { GroupId: this.#here(id), IpPermissions: [this.#permissionOf(rule)] };
        // One for all load balancers, or of another Service on the same node port: as cloud-provider-aws takes it.
        await this.#sdk.ec2.send(new AuthorizeSecurityGroupIngressCommand(asked)).catch((error: unknown) => {
          if (!(error instanceof Error) || error.name !== 'InvalidPermission.Duplicate') throw error;
        });
      }
    }
    const arns: string[] = [];
    for (const one of targetGroups) arns.push(await this.#targetGroup(one));
    for (const one of networkLoadBalancers) await this.#network(one, arns);
    for (const one of classicLoadBalancers) await this.#classic(one);
  }

  /** Subnets by their zones, which both accounts have; instances are all alike. */
  #rememberAll(): void {
    const { made } = this.#golden;
    const { instances, securityGroupId, subnetIds } = this.#account;
    const ids = [...new Set(JSON.stringify(made).match(/<(?:i|subnet)-\d+>/gu))].toSorted();
    for (const [i, id] of ids.filter((one) => one.startsWith('<i-')).entries())
      this.#ids.set(id, instances[i]?.id ?? '');
    const subnets = ids.filter((one) => one.startsWith('<subnet-'));
    for (const [i, id] of subnets.entries()) this.#ids.set(id, subnetIds[i] ?? '');
    const nodes = made.securityGroups.find(({ name }) => !name.startsWith('k8s-') && name !== 'default');
    if (nodes) this.#ids.set(nodes.id, securityGroupId);
  }

  /** With IDs of this account. */
  #here(text: string): string {
    const loadBalancer = `a${this.#golden.uid.replaceAll('-', '')}`.slice(0, 32);
    return text
      .replaceAll(/<load-balancer-\d+>/gu, loadBalancer)
      .replaceAll(/<(?:i|sg|subnet)-\d+>/gu, (id) => this.#ids.get(id) ?? id);
  }

  #permissionOf({ description, ports, protocol, source }: RuleState): IpPermission {
    const from = this.#here(source);
    const Description = description === undefined ? {} : { Description: this.#here(description) };
    const [FromPort, ToPort] = ports.split('-').map(Number);
    return {
      IpProtocol: protocol,
      ...(protocol !== '-1' && { FromPort, ToPort }),
      ...(from.startsWith('sg-')
        ? { UserIdGroupPairs: [{ GroupId: from, ...Description }] }
        : { IpRanges: [{ CidrIp: from, ...Description }] }),
    };
  }

  async #targetGroup(one: TargetGroupState): Promise<string> {
    const { elbv2 } = this.#sdk;
    const { healthCheck: check } = one;
    const { TargetGroups: [made] = [] } = await elbv2.send(
      new CreateTargetGroupCommand({
        Name: one.name,
        Protocol: one.protocol,
        Port: one.port,
        VpcId: this.#account.vpcId,
        TargetType: one.targetType,
        HealthCheckProtocol: check.protocol,
        HealthCheckPort: check.port,
        HealthCheckPath: check.path,
        HealthCheckIntervalSeconds: check.intervalSeconds,
        HealthyThresholdCount: check.healthy,
        UnhealthyThresholdCount: check.unhealthy,
        Tags: tagList(one.tags),
      }),
    );
    const TargetGroupArn = made?.TargetGroupArn ?? '';
    const { Attributes: usual = [] } = await elbv2.send(new DescribeTargetGroupAttributesCommand({ TargetGroupArn }));
    // One that this account does not know is of the account that was recorded.
    const Attributes = usual.flatMap(({ Key = '', Value }) => {
      const wanted = one.attributes[Key];
      return wanted === undefined || wanted === Value ? [] : [{ Key, Value: wanted }];
    });
    if (Attributes.length > 0) await elbv2.send(new ModifyTargetGroupAttributesCommand({ TargetGroupArn, Attributes }));
    const Targets = one.targets.map(({ id, port: Port }) => ({ Id: this.#here(id), Port }));
    await elbv2.send(new RegisterTargetsCommand({ TargetGroupArn, Targets }));
    return TargetGroupArn;
  }

  async #network(one: NetworkState, arns: readonly string[]): Promise<void> {
    const { elbv2 } = this.#sdk;
    const groups = one.securityGroups.map((id) => this.#here(id));
    const { LoadBalancers: [made] = [] } = await elbv2.send(
      new CreateLoadBalancerCommand({
        Name: this.#here(one.name),
        Type: 'network',
        Scheme: one.scheme,
        SubnetMappings: one.zones.map(({ subnet }) => ({ SubnetId: this.#here(subnet) })),
        ...(groups.length > 0 && { SecurityGroups: groups }),
        Tags: tagList(one.tags),
      }),
    );
    const LoadBalancerArn = made?.LoadBalancerArn ?? '';
    const Value = one.attributes['load_balancing.cross_zone.enabled'] ?? 'false';
    const Attributes = [{ Key: 'load_balancing.cross_zone.enabled', Value }];
    await elbv2.send(new ModifyLoadBalancerAttributesCommand({ LoadBalancerArn, Attributes }));
    for (const { certificate, port: Port, protocol: Protocol, tags, targetGroup, tlsPolicy } of one.listeners) {
      const [TargetGroupArn] = arns.filter((arn) => arn.includes(`/${targetGroup}/`));
      await elbv2.send(
        new CreateListenerCommand({
          LoadBalancerArn,
          Port,
          Protocol,
          DefaultActions: [{ Type: 'forward', TargetGroupArn }],
          ...(certificate !== undefined && { Certificates: [{ CertificateArn: certificate }], SslPolicy: tlsPolicy }),
          Tags: tagList(tags),
        }),
      );
    }
  }

  async #classic(one: ClassicState): Promise<void> {
    const { elb } = this.#sdk;
    const LoadBalancerName = this.#here(one.name);
    await elb.send(
      new CreateClassicCommand({
        LoadBalancerName,
        Listeners: one.listeners.map(({ policies: _policies, ...listener }) => listener),
        SecurityGroups: one.securityGroups.map((id) => this.#here(id)),
        Subnets: one.subnets.map((id) => this.#here(id)),
        ...(one.scheme === 'internal' && { Scheme: one.scheme }),
        Tags: tagList(one.tags),
      }),
    );
    const policy = (PolicyName: string, PolicyTypeName: string, pair: readonly [string, string]): Promise<unknown> =>
      elb.send(
        new CreateLoadBalancerPolicyCommand({
          LoadBalancerName,
          PolicyName,
          PolicyTypeName,
          PolicyAttributes: [{ AttributeName: pair[0], AttributeValue: pair[1] }],
        }),
      );
    for (const { LoadBalancerPort, policies } of one.listeners) {
      const [own] = policies.filter((name) => name.startsWith(TLS));
      if (own === undefined) continue;
      await policy(own, 'SSLNegotiationPolicyType', ['Reference-Security-Policy', own.slice(TLS.length)]);
      const asked = { LoadBalancerName, LoadBalancerPort, PolicyNames: policies };
      await elb.send(new SetLoadBalancerPoliciesOfListenerCommand(asked));
    }
    if (one.backEnds.length > 0) await policy(PROXY, 'ProxyProtocolPolicyType', ['ProxyProtocol', 'true']);
    for (const { InstancePort, PolicyNames } of one.backEnds) {
      const asked = { LoadBalancerName, InstancePort, PolicyNames };
      await elb.send(new SetLoadBalancerPoliciesForBackendServerCommand(asked));
    }
    await elb.send(new ConfigureHealthCheckCommand({ LoadBalancerName, HealthCheck: one.healthCheck }));
    const { AdditionalAttributes: _more, ...LoadBalancerAttributes } = one.attributes;
    await elb.send(new ModifyClassicAttributesCommand({ LoadBalancerName, LoadBalancerAttributes }));
    const Instances = one.instances.map((id) => ({ InstanceId: this.#here(id) }));
    await elb.send(new RegisterInstancesWithLoadBalancerCommand({ LoadBalancerName, Instances }));
  }
}
