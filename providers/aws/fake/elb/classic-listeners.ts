/** Listeners of classic load balancers, and the policies of listeners and instances. */
import type { Operations } from '../../src/client/generated/elb.ts';
import type { AwsAccount } from '../aws-account.ts';
import { refused } from '../aws-error.ts';
import type { ClassicListener, ClassicLoadBalancer } from './classic-load-balancer.ts';
import { changeBalancer, existingClassic } from './existing-classic.ts';

type Input<Name extends keyof Operations> = Operations[Name]['input'];
type GivenListener = Input<'CreateLoadBalancerListeners'>['Listeners'][number];

const MOST_LISTENERS = 100;
const DEFAULT_POLICY = 'ELBSecurityPolicy-2016-08';
const POLICY_TYPES: readonly string[] = [
  'AppCookieStickinessPolicyType',
  'BackendServerAuthenticationPolicyType',
  'LBCookieStickinessPolicyType',
  'ProxyProtocolPolicyType',
  'PublicKeyPolicyType',
  'SSLNegotiationPolicyType',
];

export const classicListenerOperations = {
  CreateLoadBalancerListeners: (input: Input<'CreateLoadBalancerListeners'>, account: AwsAccount): object => {
    const { LoadBalancerName: name } = input;
    const { listeners } = existingClassic(account, name);
    const added = input.Listeners.map((one) => listenerOf(one)).filter((listener) => {
      const same = listeners.find(({ port }) => port === listener.port);
      if (!same) return true;
      if (JSON.stringify({ ...same, policies: [] }) === JSON.stringify({ ...listener, policies: [] })) return false;
      throw refused(
        'DuplicateListener',
        `A listener already exists for ${name} with LoadBalancerPort ${listener.port}, but with a different InstancePort, Protocol, or SSLCertificateId`,
      );
    });
    const all = [...listeners, ...added];
    if (all.length > MOST_LISTENERS)
      throw refused('InvalidConfigurationRequest', `A load balancer has at most ${MOST_LISTENERS} listeners`);
    changeBalancer(account, name, { listeners: all });
    return {};
  },

  DeleteLoadBalancerListeners: (input: Input<'DeleteLoadBalancerListeners'>, account: AwsAccount): object => {
    const { LoadBalancerName: name, LoadBalancerPorts: ports } = input;
    const { listeners } = existingClassic(account, name);
    changeBalancer(account, name, { listeners: listeners.filter(({ port }) => !ports.includes(port)) });
    return {};
  },

  SetLoadBalancerListenerSSLCertificate: (
    input: Input<'SetLoadBalancerListenerSSLCertificate'>,
    account: AwsAccount,
  ): object => {
    const { LoadBalancerName: name, LoadBalancerPort: port, SSLCertificateId: given } = input;
    const certificate = certificateOf(given);
    changeListener(account, name, port, (listener) => {
      if (isSecure(listener.protocol)) return { ...listener, certificate };
      throw refused(
        'InvalidConfigurationRequest',
        `The listener of port ${port} has the protocol ${listener.protocol}, and no certificate`,
      );
    });
    return {};
  },

  CreateLoadBalancerPolicy: (input: Input<'CreateLoadBalancerPolicy'>, account: AwsAccount): object => {
    const {
      LoadBalancerName: name,
      PolicyAttributes: given = [],
      PolicyName: policyName,
      PolicyTypeName: type,
    } = input;
    const { policies } = existingClassic(account, name);
    if (!POLICY_TYPES.includes(type)) throw refused('PolicyTypeNotFound', `Policy type ${type} is not found`);
    if (policies.some((one) => one.name === policyName))
      throw refused('DuplicatePolicyName', `Policy already exists: ${policyName}`);
    const attributes = Object.fromEntries(
      given.map(({ AttributeName: key = '', AttributeValue: value = '' }) => [key, value]),
    );
    changeBalancer(account, name, { policies: [...policies, { name: policyName, type, attributes }] });
    return {};
  },

  DeleteLoadBalancerPolicy: (
    { LoadBalancerName: name, PolicyName: policyName }: Input<'DeleteLoadBalancerPolicy'>,
    account: AwsAccount,
  ): object => {
    const { backEndPolicies, listeners, policies } = existingClassic(account, name);
    const used = [...listeners.map((one) => one.policies), ...Object.values(backEndPolicies)];
    if (used.some((names) => names.includes(policyName))) {
      throw refused('InvalidConfigurationRequest', `The policy ${policyName} is in use`);
    }
    changeBalancer(account, name, { policies: policies.filter((one) => one.name !== policyName) });
    return {};
  },

  DescribeLoadBalancerPolicies: (input: Input<'DescribeLoadBalancerPolicies'>, account: AwsAccount): object => {
    const { LoadBalancerName: name, PolicyNames: names } = input;
    const policies = name === undefined ? [] : existingClassic(account, name, 'seen').policies;
    const unknown = names?.find((one) => !policies.some((policy) => policy.name === one));
    if (unknown !== undefined)
      throw refused('PolicyNotFound', `There is no policy with name ${unknown} for load balancer ${name ?? ''}`);
    return {
      PolicyDescriptions: policies
        .filter((policy) => names?.includes(policy.name) ?? true)
        .map(({ attributes, name: policyName, type }) => ({
          PolicyName: policyName,
          PolicyTypeName: type,
          PolicyAttributeDescriptions: Object.entries(attributes).map(([AttributeName, AttributeValue]) => ({
            AttributeName,
            AttributeValue,
          })),
        })),
    };
  },

  SetLoadBalancerPoliciesOfListener: (
    input: Input<'SetLoadBalancerPoliciesOfListener'>,
    account: AwsAccount,
  ): object => {
    const { LoadBalancerName: name, LoadBalancerPort: port, PolicyNames: names } = input;
    checkPolicies(existingClassic(account, name), names);
    changeListener(account, name, port, (listener) => ({ ...listener, policies: names }));
    return {};
  },

  SetLoadBalancerPoliciesForBackendServer: (
    input: Input<'SetLoadBalancerPoliciesForBackendServer'>,
    account: AwsAccount,
  ): object => {
    const { InstancePort: port, LoadBalancerName: name, PolicyNames: names } = input;
    const balancer = existingClassic(account, name);
    checkPolicies(balancer, names);
    // They stay when their listener goes, and are taken away after that (cloud-provider-aws, `ensureLoadBalancer`).
    if (names.length > 0 && !balancer.listeners.some(({ instancePort }) => instancePort === port)) {
      throw refused('InvalidConfigurationRequest', `No listener has the instance port ${port}`);
    }
    const { [String(port)]: _old, ...others } = balancer.backEndPolicies;
    changeBalancer(account, name, { backEndPolicies: names.length === 0 ? others : { ...others, [port]: names } });
    return {};
  },
};

export function listenerOf({
  InstancePort: instancePort,
  InstanceProtocol: inner,
  LoadBalancerPort: port,
  Protocol: outer,
  SSLCertificateId: given,
}: GivenListener): ClassicListener {
  const protocol = outer.toUpperCase();
  const layer = ['HTTP', 'HTTPS'].includes(protocol) ? ['HTTP', 'HTTPS'] : ['TCP', 'SSL'];
  if (!['HTTP', 'HTTPS', 'TCP', 'SSL'].includes(protocol))
    throw refused('UnsupportedProtocol', `The protocol ${outer} is not supported`);
  const instanceProtocol = (inner ?? layer[0] ?? '').toUpperCase();
  if (!layer.includes(instanceProtocol)) {
    throw refused(
      'ValidationError',
      `Listener protocol ${protocol} and instance protocol ${instanceProtocol} must be on the same layer`,
    );
  }
  if (port < 1 || port > 65_535) throw refused('ValidationError', `LoadBalancerPort ${port} is not valid`);
  const needs = isSecure(protocol);
  if (needs && given === undefined)
    throw refused('ValidationError', 'Secure Listeners must specify a SSLCertificateId');
  if (!needs && given !== undefined)
    throw refused('ValidationError', 'SSLCertificateId is only for listeners of HTTPS and SSL');
  const certificate = given === undefined ? undefined : certificateOf(given);
  return { protocol, port, instanceProtocol, instancePort, certificate, policies: needs ? [DEFAULT_POLICY] : [] };
}

export function listenerView({ certificate, instancePort, instanceProtocol, port, protocol }: ClassicListener): object {
  return {
    Protocol: protocol,
    LoadBalancerPort: port,
    InstanceProtocol: instanceProtocol,
    InstancePort: instancePort,
    ...(certificate !== undefined && { SSLCertificateId: certificate }),
  };
}

function isSecure(protocol: string): boolean {
  return protocol === 'HTTPS' || protocol === 'SSL';
}

function certificateOf(arn: string): string {
  if (/^arn:[a-z-]+:(?:acm|iam):/u.test(arn)) return arn;
  throw refused('CertificateNotFound', `Server Certificate not found for the key: ${arn}`);
}

function checkPolicies({ policies }: ClassicLoadBalancer, names: readonly string[]): void {
  const unknown = names.find((name) => name !== DEFAULT_POLICY && !policies.some((policy) => policy.name === name));
  if (unknown !== undefined) throw refused('PolicyNotFound', `There is no policy with name ${unknown}`);
}

function changeListener(
  account: AwsAccount,
  name: string,
  port: number,
  change: (listener: ClassicListener) => ClassicListener,
): void {
  const { listeners } = existingClassic(account, name);
  if (!listeners.some((one) => one.port === port))
    throw refused('ListenerNotFound', `There is no listener on port ${port} of ${name}`);
  changeBalancer(account, name, { listeners: listeners.map((one) => (one.port === port ? change(one) : one)) });
}
