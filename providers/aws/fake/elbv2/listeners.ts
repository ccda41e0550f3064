/** Listeners of network load balancers. */
import type { Operations } from '../../src/client/generated/elbv2.ts';
import type { AwsAccount } from '../aws-account.ts';
import { refused } from '../aws-error.ts';
import { elbPage } from '../elb-page.ts';
import { tagsOf } from './elb-tags.ts';
import { existingBalancer, sameSet } from './load-balancers.ts';
import { existingGroup } from './target-groups.ts';
import type { Listener, LoadBalancer } from './things.ts';

type Input<Name extends keyof Operations> = Operations[Name]['input'];
type Actions = Input<'CreateListener'>['DefaultActions'];

const MOST_LISTENERS = 50;
/** Of a target group by its listener's (https://docs.aws.amazon.com/elasticloadbalancing/latest/network/load-balancer-target-groups.html#target-group-routing-configuration). */
const PROTOCOLS: Readonly<Record<string, readonly string[]>> = {
  TCP: ['TCP', 'TCP_UDP'],
  UDP: ['UDP', 'TCP_UDP'],
  TCP_UDP: ['TCP_UDP'],
  TLS: ['TCP', 'TLS'],
};

export const listenerOperations = {
  CreateListener: (input: Input<'CreateListener'>, account: AwsAccount): object => {
    const balancer = existingBalancer(account, input.LoadBalancerArn);
    const { Port: port, Protocol: protocol } = input;
    if (port === undefined || protocol === undefined)
      throw refused('ValidationError', 'A port and a protocol must be specified');
    const hex = account.newHex('listener', 16);
    const listener: Listener = {
      id: `${balancer.id.replace(':loadbalancer/', ':listener/')}/${hex}`,
      balancerId: balancer.id,
      protocol,
      port,
      ...securityOf(protocol, input),
      ...forwardOf(input.DefaultActions),
      moreCertificates: [],
      tags: tagsOf(input.Tags),
    };
    check(account, balancer, listener);
    const others = account.listeners.all().filter(({ balancerId }) => balancerId === balancer.id);
    // One listener has a port, whatever its protocol: both at once are TCP_UDP.
    const same = others.find((one) => one.port === port);
    if (same) {
      const isSame =
        same.protocol === protocol &&
        same.sslPolicy === listener.sslPolicy &&
        same.certificate === listener.certificate &&
        sameSet(same.targetGroupIds, listener.targetGroupIds) &&
        sameSet(same.alpn, listener.alpn);
      if (isSame) return { Listeners: [view(same)] };
      throw refused(
        'DuplicateListener',
        `A listener already exists on this port for this load balancer '${balancer.id}'`,
      );
    }
    if (others.length >= MOST_LISTENERS)
      throw refused('TooManyListeners', 'The maximum number of listeners has been reached');
    account.listeners.put(listener);
    return { Listeners: [view(listener)] };
  },

  DescribeListeners: (input: Input<'DescribeListeners'>, account: AwsAccount): object => {
    const { ListenerArns: arns, LoadBalancerArn: balancer } = input;
    if (balancer === undefined && !arns)
      throw refused('ValidationError', 'You must specify either listener ARNs or a load balancer ARN');
    if (balancer !== undefined) existingBalancer(account, balancer, 'seen');
    for (const arn of arns ?? []) if (!account.listeners.seen(arn)) throw notFound(arn);
    const all = account.listeners.list().filter(({ balancerId, id }) => arns?.includes(id) ?? balancerId === balancer);
    const { items, next } = elbPage(all, input, ({ id }) => id);
    return { Listeners: items.map((one) => view(one)), ...next };
  },

  ModifyListener: (input: Input<'ModifyListener'>, account: AwsAccount): object => {
    const old = existing(account, input.ListenerArn);
    const balancer = existingBalancer(account, old.balancerId);
    const { Port: port = old.port, Protocol: protocol = old.protocol } = input;
    const isTls = protocol === 'TLS';
    const kept = isTls
      ? {
          ...(old.sslPolicy !== undefined && { SslPolicy: old.sslPolicy }),
          ...(old.certificate !== undefined && { Certificates: [{ CertificateArn: old.certificate }] }),
          AlpnPolicy: old.alpn,
        }
      : {};
    const listener: Listener = {
      ...old,
      port,
      protocol,
      ...securityOf(protocol, { ...kept, ...input }),
      ...(input.DefaultActions && forwardOf(input.DefaultActions)),
      ...(!isTls && { moreCertificates: [] }),
    };
    check(account, balancer, listener);
    if (
      account.listeners.all().some((one) => one.id !== old.id && one.balancerId === balancer.id && one.port === port)
    ) {
      throw refused(
        'DuplicateListener',
        `A listener already exists on this port for this load balancer '${balancer.id}'`,
      );
    }
    account.listeners.put(listener);
    return { Listeners: [view(listener)] };
  },

  DeleteListener: ({ ListenerArn: arn }: Input<'DeleteListener'>, account: AwsAccount): object => {
    account.listeners.remove(existing(account, arn).id);
    return {};
  },

  DescribeListenerCertificates: (input: Input<'DescribeListenerCertificates'>, account: AwsAccount): object => {
    const { certificate, moreCertificates } = existing(account, input.ListenerArn);
    const own = certificate === undefined ? [] : [{ CertificateArn: certificate, IsDefault: true }];
    const all = [...own, ...moreCertificates.map((CertificateArn) => ({ CertificateArn, IsDefault: false }))];
    const { items, next } = elbPage(all, input, ({ CertificateArn: arn }) => arn);
    return { Certificates: items, ...next };
  },

  AddListenerCertificates: (input: Input<'AddListenerCertificates'>, account: AwsAccount): object => {
    const listener = existing(account, input.ListenerArn);
    const arns = input.Certificates.map(({ CertificateArn: arn = '' }) => certificateOf(arn));
    if (listener.protocol !== 'TLS')
      throw refused('UnsupportedProtocol', `A listener of ${listener.protocol} has no certificates`);
    account.listeners.put({ ...listener, moreCertificates: [...new Set([...listener.moreCertificates, ...arns])] });
    return { Certificates: arns.map((CertificateArn) => ({ CertificateArn, IsDefault: false })) };
  },

  RemoveListenerCertificates: (input: Input<'RemoveListenerCertificates'>, account: AwsAccount): object => {
    const listener = existing(account, input.ListenerArn);
    const arns = input.Certificates.map(({ CertificateArn: arn = '' }) => arn);
    account.listeners.put({
      ...listener,
      moreCertificates: listener.moreCertificates.filter((arn) => !arns.includes(arn)),
    });
    return {};
  },
};

function notFound(arn: string): Error {
  return refused('ListenerNotFound', `One or more listeners not found: '${arn}'`);
}

function existing(account: AwsAccount, arn: string): Listener {
  const listener = account.knobs.writesLag ? account.listeners.seen(arn) : account.listeners.get(arn);
  if (listener) return listener;
  throw notFound(arn);
}

function securityOf(
  protocol: string,
  {
    AlpnPolicy: alpn = [],
    Certificates: certificates = [],
    SslPolicy: sslPolicy,
  }: Pick<Input<'CreateListener'>, 'AlpnPolicy' | 'Certificates' | 'SslPolicy'>,
): Pick<Listener, 'alpn' | 'certificate' | 'sslPolicy'> {
  if (protocol !== 'TLS') {
    if (certificates.length > 0 || sslPolicy !== undefined || alpn.length > 0) {
      throw refused('ValidationError', `A listener of ${protocol} has no certificate, SSL policy or ALPN policy`);
    }
    return { alpn: [], certificate: undefined, sslPolicy: undefined };
  }
  const [certificate] = certificates;
  if (!certificate || certificates.length > 1)
    throw refused('ValidationError', 'Exactly one default certificate must be specified for a TLS listener');
  return {
    alpn,
    certificate: certificateOf(certificate.CertificateArn ?? ''),
    sslPolicy: sslPolicy ?? 'ELBSecurityPolicy-2016-08',
  };
}

function certificateOf(arn: string): string {
  if (/^arn:[a-z-]+:(?:acm|iam):/u.test(arn)) return arn;
  throw refused('CertificateNotFound', `Certificate ARN '${arn}' is not valid`);
}

function forwardOf(actions: Actions): Pick<Listener, 'actions' | 'targetGroupIds'> {
  const [action] = actions;
  if (!action || actions.length > 1) throw refused('ValidationError', 'Exactly one default action must be specified');
  if (action.Type !== 'forward')
    throw refused('InvalidLoadBalancerAction', `A network load balancer has no action ${action.Type}`);
  const weighted = action.ForwardConfig?.TargetGroups?.flatMap(({ TargetGroupArn: arn }) => arn ?? []);
  const targetGroupIds = weighted ?? (action.TargetGroupArn === undefined ? [] : [action.TargetGroupArn]);
  if (targetGroupIds.length === 0) throw refused('ValidationError', 'A target group must be specified');
  return { actions, targetGroupIds };
}

function check(account: AwsAccount, balancer: LoadBalancer, { protocol, targetGroupIds }: Listener): void {
  const allowed = PROTOCOLS[protocol];
  if (!allowed) throw refused('UnsupportedProtocol', `The fake has no listeners of ${protocol}`);
  if (balancer.ipAddressType !== 'ipv4' && protocol.includes('UDP') && balancer.prefixForSourceNat === 'off') {
    throw refused(
      'InvalidConfigurationRequest',
      'A UDP listener of a dualstack load balancer needs EnablePrefixForIpv6SourceNat',
    );
  }
  for (const id of targetGroupIds) {
    const group = existingGroup(account, id);
    if (!allowed.includes(group.protocol)) {
      throw refused(
        'IncompatibleProtocols',
        `A listener of ${protocol} cannot forward to a target group of ${group.protocol}`,
      );
    }
    if (group.vpcId !== balancer.vpcId)
      throw refused('InvalidConfigurationRequest', 'The target group is in another VPC');
    if (group.ipAddressType === 'ipv6' && balancer.ipAddressType === 'ipv4') {
      throw refused('InvalidConfigurationRequest', 'An IPv6 target group needs a dualstack load balancer');
    }
    if (account.listeners.all().some((one) => one.balancerId !== balancer.id && one.targetGroupIds.includes(id))) {
      throw refused('TargetGroupAssociationLimit', `The target group '${id}' is associated with another load balancer`);
    }
  }
}

function view({ actions, alpn, balancerId, certificate, id, port, protocol, sslPolicy }: Listener): object {
  return {
    ListenerArn: id,
    LoadBalancerArn: balancerId,
    Port: port,
    Protocol: protocol,
    DefaultActions: actions,
    ...(sslPolicy !== undefined && { SslPolicy: sslPolicy }),
    ...(certificate !== undefined && { Certificates: [{ CertificateArn: certificate }] }),
    ...(alpn.length > 0 && { AlpnPolicy: alpn }),
  };
}
