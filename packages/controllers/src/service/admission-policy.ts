/**
 * A ValidatingAdmissionPolicy from what a provider declares: what it does not serve is refused when the Service is written,
 * by the API server itself (no webhook, no server). It is a convenience: the controller refuses the same.
 */
import { loadBalancerOwnerAnnotation, type LoadBalancerFeatures, type LoadBalancers } from '@outrigger/cloud-provider';

export interface AdmissionPolicyOptions {
  readonly providerName: string;
  /** Whether the provider serves Services without a class. Default: true. */
  readonly isDefault?: boolean;
  /** `Deny`, or only `Warn` the person who writes. Default: `Deny`. */
  readonly action?: 'Deny' | 'Warn';
}

/** One thing that a Service may ask for: in words, in CEL (true: it does not ask), and whether it is served. */
interface Rule {
  readonly words: string;
  readonly unasked: string;
  readonly isServed: (features: LoadBalancerFeatures) => boolean;
}

/** What a Service of a namespace that is not trusted may not have. */
interface TrustRule {
  readonly words: string;
  /** In CEL. */
  readonly valueOf: (object: string) => string;
  readonly harmless: readonly string[];
  /** Also while it is being deleted. Default: no. */
  readonly alsoDeleted?: true;
}

const POLICY_API = 'admissionregistration.k8s.io/v1';
/** What is on its way out is not held up. */
const IS_DELETED = 'has(object.metadata.deletionTimestamp)';

/** In CEL, ports default to TCP before a policy sees them. */
const RULES: readonly Rule[] = [
  ...(['TCP', 'UDP', 'SCTP'] as const).map((protocol) => ({
    words: `protocol ${protocol}`,
    unasked: `object.spec.ports.all(p, p.protocol != "${protocol}")`,
    isServed: ({ protocols }: LoadBalancerFeatures) => protocols.includes(protocol),
  })),
  {
    words: 'several protocols on one Service',
    unasked: 'object.spec.ports.all(p, p.protocol == object.spec.ports[0].protocol)',
    isServed: ({ mixedProtocols }) => mixedProtocols,
  },
  ...(['IPv4', 'IPv6'] as const).map((family) => ({
    words: `IP family ${family}`,
    unasked: `!has(object.spec.ipFamilies) || !("${family}" in object.spec.ipFamilies)`,
    isServed: ({ ipFamilies }: LoadBalancerFeatures) => ipFamilies.includes(family),
  })),
  {
    words: 'two IP families on one Service',
    unasked: '!has(object.spec.ipFamilies) || object.spec.ipFamilies.size() < 2',
    isServed: ({ dualStack }) => dualStack,
  },
  {
    words: 'sessionAffinity: ClientIP',
    unasked: '!has(object.spec.sessionAffinity) || object.spec.sessionAffinity != "ClientIP"',
    isServed: ({ sessionAffinity }) => sessionAffinity,
  },
  {
    words: 'externalTrafficPolicy: Local',
    unasked: '!has(object.spec.externalTrafficPolicy) || object.spec.externalTrafficPolicy != "Local"',
    isServed: ({ externalTrafficPolicyLocal }) => externalTrafficPolicyLocal,
  },
  {
    words: 'loadBalancerSourceRanges',
    unasked: '!has(object.spec.loadBalancerSourceRanges) || object.spec.loadBalancerSourceRanges.size() == 0',
    isServed: ({ sourceRanges }) => sourceRanges,
  },
  {
    words: 'allocateLoadBalancerNodePorts: false',
    unasked: '!has(object.spec.allocateLoadBalancerNodePorts) || object.spec.allocateLoadBalancerNodePorts',
    isServed: ({ withoutNodePorts }) => withoutNodePorts,
  },
  {
    words: 'loadBalancerIP',
    unasked: '!has(object.spec.loadBalancerIP) || object.spec.loadBalancerIP == ""',
    isServed: ({ requestedIP }) => requestedIP,
  },
];

/** The policy and its binding, to be applied with `kubectl apply`. */
export function admissionPolicyOf(
  { classes, features }: Pick<LoadBalancers, 'classes' | 'features'>,
  { providerName, isDefault = true, action = 'Deny' }: AdmissionPolicyOptions,
): readonly object[] {
  const validations = RULES.filter(({ isServed }) => !isServed(features)).map(({ words, unasked }) => ({
    expression: unasked,
    message: `the cloud ${providerName} does not serve ${words}`,
    reason: 'Invalid',
  }));
  // The controller says the same later: a policy that fails must not keep anybody from working.
  return policyOf(`load-balancers.${providerName}.outrigger.dev`, {
    failurePolicy: 'Ignore',
    matchConditions: [...ofProvider(classes, isDefault), { name: 'not-deleted', expression: `!${IS_DELETED}` }],
    validations: validations.length > 0 ? validations : [{ expression: 'true', message: 'everything is served' }],
    action,
  });
}

export interface TrustPolicyOptions extends AdmissionPolicyOptions {
  /** `--trusted-service-namespaces` of the manager; `*`: all, so that there is no policy. */
  readonly trustedNamespaces: readonly string[];
}

/**
 * The policy and its binding that let only Services of these namespaces name things of the cloud: by the annotations that the provider
 * marks as dangerous, and by `loadBalancerIP`. What a Service of type LoadBalancer had before may stay. The manager's own flag refuses
 * the same; the policy says so when it is written. Nor may they record another provider, whose Service would be left alone with the
 * addresses that its status has, not even while it is being deleted. Empty: none is trusted.
 */
export function trustPolicyOf(
  { annotations, classes, features }: Pick<LoadBalancers, 'annotations' | 'classes' | 'features'>,
  { providerName, isDefault = true, action = 'Deny', trustedNamespaces }: TrustPolicyOptions,
): readonly object[] {
  if (trustedNamespaces.includes('*')) return [];
  const dangerous = annotations.flatMap(({ dangerous: why, name }) => (why === undefined ? [] : [{ name, why }]));
  const rules: readonly TrustRule[] = [
    ...dangerous.map(({ name, why }) => ({
      words: `the annotation ${name}, which ${why}`,
      valueOf: (object: string) => annotationOf(object, name),
      harmless: [''],
    })),
    {
      words: `the annotation ${loadBalancerOwnerAnnotation} with another provider than ${providerName}`,
      // An empty one names nobody, and is no reason to write it.
      valueOf: (object: string) => annotationOf(object, loadBalancerOwnerAnnotation, providerName),
      harmless: [providerName],
      // With a finalizer of its own it would keep its addresses for as long as its writer likes.
      alsoDeleted: true,
    },
    ...(features.requestedIP
      ? [
          {
            words: 'loadBalancerIP, which takes an address of others',
            valueOf: (object: string) => `(has(${object}.spec.loadBalancerIP) ? ${object}.spec.loadBalancerIP : "")`,
            harmless: [''],
          },
        ]
      : []),
  ];
  // One of another type may have been written with any annotation.
  const wasOne = 'oldObject != null && has(oldObject.spec.type) && oldObject.spec.type == "LoadBalancer"';
  return policyOf(`named-things.${providerName}.outrigger.dev`, {
    failurePolicy: 'Fail',
    matchConditions: [
      ...ofProvider(classes, isDefault),
      { name: 'not-trusted', expression: `!(request.namespace in [${trustedNamespaces.map(celText).join(', ')}])` },
    ],
    validations: rules.map(({ alsoDeleted = false, harmless, valueOf, words }) => ({
      expression: `${alsoDeleted ? '' : `${IS_DELETED} || `}${valueOf('object')} in [${harmless.map(celText).join(', ')}] || (${wasOne} && ${valueOf('oldObject')} == ${valueOf('object')})`,
      message: `Services of this namespace may not have ${words}, where nothing holds it back; ask the administrator of the cluster (--trusted-service-namespaces)`,
      reason: 'Forbidden',
    })),
    action,
  });
}

const celText = (text: string): string => JSON.stringify(text);

/** Where it has none: `none`. */
function annotationOf(object: string, name: string, none = ''): string {
  const all = `${object}.metadata.annotations`;
  return `(has(${all}) && ${celText(name)} in ${all} ? ${all}[${celText(name)}] : ${celText(none)})`;
}

interface MatchCondition {
  readonly name: string;
  readonly expression: string;
}

/** The Services that the provider serves. */
function ofProvider(classes: readonly string[], isDefault: boolean): readonly MatchCondition[] {
  const ofClass = `has(object.spec.loadBalancerClass) ? object.spec.loadBalancerClass in [${classes.map(celText).join(', ')}] : ${isDefault}`;
  return [
    { name: 'load-balancer', expression: 'has(object.spec.type) && object.spec.type == "LoadBalancer"' },
    { name: 'class', expression: ofClass },
  ];
}

interface PolicySpec {
  readonly failurePolicy: 'Fail' | 'Ignore';
  readonly matchConditions: readonly MatchCondition[];
  readonly validations: readonly { readonly expression: string; readonly message: string; readonly reason?: string }[];
  readonly action: 'Deny' | 'Warn';
}

/** The policy and its binding, for whoever writes Services; the controller writes `services/status`, which is none of it. */
function policyOf(
  name: string,
  { action, failurePolicy, matchConditions, validations }: PolicySpec,
): readonly object[] {
  const policy = {
    apiVersion: POLICY_API,
    kind: 'ValidatingAdmissionPolicy',
    metadata: { name },
    spec: {
      failurePolicy,
      matchConstraints: {
        resourceRules: [
          { apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE', 'UPDATE'], resources: ['services'] },
        ],
      },
      matchConditions,
      validations,
    },
  };
  const binding = {
    apiVersion: POLICY_API,
    kind: 'ValidatingAdmissionPolicyBinding',
    metadata: { name },
    spec: { policyName: name, validationActions: [action] },
  };
  return [policy, binding];
}

/** The table for a provider's reference page: what a Service may ask for, and whether it is served. Markdown. */
export function featureTableOf(features: LoadBalancerFeatures): string {
  const rows = RULES.map(({ words, isServed }) => `| ${words} | ${isServed(features) ? 'yes' : 'refused'} |`);
  return ['| A Service with | |', '|---|---|', ...rows, ''].join('\n');
}
