import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isCloudError, type LoadBalancerWarning } from '@outrigger/cloud-provider';
import { aService } from './a-service.suite.ts';
import { annotationRows, annotations, type AnnotationKey } from './annotation-rows.ts';
import {
  isServedElsewhere,
  settingsOf,
  targetLabelsOf,
  type LoadBalancerConfig,
  type ServiceSettings,
} from './service-settings.ts';

type Given = Parameters<typeof aService>[0];
const CERTIFICATE = 'arn:aws:acm:eu-central-1:123456789012:certificate/c-1';

const settings = (given: Given, config: LoadBalancerConfig = {}): ServiceSettings =>
  settingsOf(aService(given), config);

function warningsOf(given: Given): readonly string[] {
  const warnings: LoadBalancerWarning[] = [];
  settingsOf(aService(given), {}, (warning) => warnings.push(warning));
  return warnings.map(({ message }) => message);
}

test('without annotations it is a public Classic Load Balancer with the defaults of upstream', () => {
  const { classic, groups, health, isInternal, listeners, sourceRanges, type } = settings({});
  assert.deepEqual(
    { type, isInternal, groups, sourceRanges },
    {
      type: 'clb',
      isInternal: false,
      groups: { named: [], isOfConfig: false, extra: [] },
      sourceRanges: ['0.0.0.0/0'],
    },
  );
  assert.deepEqual(listeners, [{ port: 80, protocol: 'TCP', nodePort: 30_080, targetProtocol: 'TCP' }]);
  assert.deepEqual(classic, {
    proxyProtocol: false,
    drainingTimeout: undefined,
    idleTimeout: 60,
    tlsPolicy: undefined,
  });
  assert.deepEqual(health, {
    protocol: 'TCP',
    port: undefined,
    path: undefined,
    healthyThreshold: 2,
    unhealthyThreshold: 6,
    interval: 10,
    timeout: 5,
  });
});

test('the kind is told by the exact word, as upstream; what is left to the other controller is not ours', () => {
  const kinds = ['nlb', 'NLB', 'classic', ''].map((type) => settings({ set: { type } }).type);
  assert.deepEqual(kinds, ['nlb', 'clb', 'clb', 'clb']);
  assert.match(warningsOf({ set: { type: 'NLB' } }).join(), /"NLB" is not/);
  const elsewhere = ['nlb-ip', 'external', 'nlb'].map((type) => isServedElsewhere(aService({ set: { type } })));
  assert.deepEqual(elsewhere, [true, true, false]);
});

test('internal is any text but false', () => {
  const internal = ['0.0.0.0/0', 'true', 'no', 'false', ''].map(
    (text) => settings({ set: { internal: text } }).isInternal,
  );
  assert.deepEqual(internal, [true, true, true, false, false]);
});

test('TLS is of the ports that are named, by number or name, and never of UDP', () => {
  const ports = [
    { name: 'HTTPS', port: 443, protocol: 'TCP', nodePort: 30_443 },
    { name: 'admin', port: 8443, protocol: 'TCP', nodePort: 30_444 },
    { name: 'quic', port: 8444, protocol: 'UDP', nodePort: 30_445 },
  ] as const;
  const protocols = (tlsPorts: string): readonly string[] =>
    settings({ ports, set: { type: 'nlb', certificate: CERTIFICATE, tlsPorts } }).listeners.map(
      ({ protocol }) => protocol,
    );
  assert.deepEqual(protocols('https'), ['TLS', 'TCP', 'UDP']);
  assert.deepEqual(protocols('8443, HTTPS'), ['TLS', 'TLS', 'UDP']);
  assert.deepEqual(protocols('*'), ['TLS', 'TLS', 'UDP']);
  const [tls] = settings({
    ports,
    set: { type: 'nlb', certificate: CERTIFICATE, backendProtocol: 'ssl', tlsPolicy: 'P-1' },
  }).listeners;
  assert.deepEqual(tls, {
    port: 443,
    protocol: 'TLS',
    nodePort: 30_443,
    targetProtocol: 'TLS',
    certificate: CERTIFICATE,
    tlsPolicy: 'P-1',
  });
});

test('listeners of a Classic Load Balancer follow what the nodes speak', () => {
  const pair = (set: Partial<Record<AnnotationKey, string>>): string => {
    const [one] = settings({ set }).listeners;
    return `${one?.protocol} to ${one?.targetProtocol}`;
  };
  const withTls = (backendProtocol: string): string => pair({ backendProtocol, certificate: CERTIFICATE });
  assert.deepEqual(['http', 'https', 'ssl', 'tcp', ''].map(withTls), [
    'HTTPS to HTTP',
    'HTTPS to HTTPS',
    'SSL to SSL',
    'SSL to TCP',
    'SSL to TCP',
  ]);
  assert.deepEqual(
    ['http', 'https', 'HTTP'].map((backendProtocol) => pair({ backendProtocol })),
    ['HTTP to HTTP', 'TCP to TCP', 'TCP to TCP'],
  );
});

test('TCP and UDP on one port are one listener where both have one node port', () => {
  const ports = (udp: number) =>
    [
      { name: 'dns', port: 53, protocol: 'TCP', nodePort: 30_053 },
      { name: 'dns-udp', port: 53, protocol: 'UDP', nodePort: udp },
    ] as const;
  assert.deepEqual(settings({ ports: ports(30_053), set: { type: 'nlb' } }).listeners, [
    { port: 53, protocol: 'TCP_UDP', nodePort: 30_053, targetProtocol: 'TCP_UDP' },
  ]);
  assert.throws(
    () => settings({ ports: ports(30_054), set: { type: 'nlb' } }),
    /one nodePort, and they have 30053 and 30054/,
  );
  assert.throws(
    () => settings({ ports: ports(30_053), set: { type: 'nlb', certificate: CERTIFICATE } }),
    /not with TLS/,
  );
  assert.throws(() => settings({ ports: ports(30_053) }), /Classic Load Balancer has no UDP/);
});

test('health checks: the policy, the shared probe of the config, and the annotations over them', () => {
  const local = { externalTrafficPolicy: 'Local', healthCheckNodePort: 32_000 } as const;
  const shared = { clusterHealthProbe: { mode: 'Shared', port: 10_256, path: '/healthz' } } as const;
  const check = (given: Given, config: LoadBalancerConfig = {}): string => {
    const { healthyThreshold, interval, path, port, protocol, timeout, unhealthyThreshold } = settings(
      given,
      config,
    ).health;
    return `${protocol}:${port ?? 'traffic'}${path ?? ''} ${healthyThreshold}/${unhealthyThreshold} ${interval}s ${timeout ?? '-'}`;
  };
  assert.equal(check({ set: { type: 'nlb' } }), 'TCP:traffic 3/3 30s -');
  assert.equal(check({ ...local, set: { type: 'nlb' } }), 'HTTP:32000/healthz 2/2 10s -');
  assert.equal(check(local), 'HTTP:32000/healthz 2/6 10s 5');
  assert.equal(check({ set: { backendProtocol: 'ssl' } }), 'SSL:traffic 2/6 10s 5');
  assert.equal(check({ set: { healthProtocol: 'http', healthPort: '8080' } }), 'HTTP:8080/ 2/6 10s 5');
  assert.equal(
    check({ ...local, set: { healthProtocol: 'tcp', healthPort: 'traffic-port' } }),
    'TCP:traffic 2/6 10s 5',
  );
  assert.equal(check({}, shared), 'HTTP:10256/healthz 2/6 10s 5');
  assert.equal(check({ set: { type: 'nlb', healthPort: '8080' } }, shared), 'HTTP:10256/healthz 3/3 30s -');
  assert.equal(check(local, shared), 'HTTP:32000/healthz 2/6 10s 5');
  assert.throws(
    () => check({ set: { healthInterval: '5' } }),
    /healthcheck-interval: "5": it has to be more than the timeout/,
  );
  assert.throws(() => check({ set: { healthTimeout: '90', healthInterval: '120' } }), /healthcheck-timeout: "90"/);
  assert.throws(() => check({ set: { type: 'nlb', healthProtocol: 'ssl' } }), /no such check/);
});

test('security groups: those of the annotation, else the one of the config, which is of Classic Load Balancers', () => {
  const config = { elbSecurityGroup: 'sg-00000001' };
  assert.deepEqual(settings({}, config).groups.named, ['sg-00000001']);
  assert.deepEqual(settings({ set: { type: 'nlb' } }, config).groups.named, []);
  const set = { securityGroups: 'sg-00000002, sg-00000003', extraSecurityGroups: 'sg-00000004' };
  assert.deepEqual(settings({ set }, config).groups, {
    named: ['sg-00000002', 'sg-00000003'],
    isOfConfig: false,
    extra: ['sg-00000004'],
  });
});

test('source ranges are in canonical form and of the families that it has', () => {
  const sourceRanges = ['10.1.2.3/8', 'fd00::/8', ' 10.0.0.0/8 '];
  assert.deepEqual(settings({ sourceRanges }).sourceRanges, ['10.0.0.0/8']);
  const both = { ipFamilies: ['IPv6', 'IPv4'], set: { type: 'nlb' } } as const;
  assert.deepEqual(settings({ ...both, sourceRanges }).sourceRanges, ['10.0.0.0/8', 'fd00::/8']);
  assert.deepEqual(settings(both).sourceRanges, ['0.0.0.0/0', '::/0']);
  assert.throws(() => settings({ sourceRanges: ['fd00::/8'] }), /would block all clients/);
  assert.throws(() => settings({ sourceRanges: ['anywhere'] }), /"anywhere" is not a range/);
});

test('a Classic Load Balancer has IPv4 alone, and says so', () => {
  const two = { ipFamilies: ['IPv6', 'IPv4'], ipFamilyPolicy: 'PreferDualStack' } as const;
  assert.deepEqual(settings(two).families, ['IPv4']);
  assert.match(warningsOf(two).join(), /Only IPv4 is served/);
  assert.throws(
    () => settings({ ipFamilies: ['IPv6'] }),
    (error) => isCloudError(error, 'unsupported'),
  );
});

test('tags that say whose something is are refused', () => {
  assert.deepEqual(settings({ set: { tags: ' team=a=b, cost ,=x,, team = shop' } }).tags, { cost: '', team: 'shop' });
  const reserved = [
    'kubernetes.io/cluster/other',
    'outrigger.dev/owner',
    'aws:x',
    'KubernetesCluster',
    'elbv2.k8s.aws/cluster',
    'service.eks.amazonaws.com/stack',
    'elbv2.EKS.amazonaws.com/cluster',
    'karpenter.sh/discovery',
    'karpenter.k8s.aws/cluster',
    'sigs.k8s.io/cluster-api-provider-aws/cluster/other',
    'kops.k8s.io/instancegroup',
    'k8s.io/cluster-autoscaler/enabled',
    'cluster.x-k8s.io/cluster-name',
    'alpha.eksctl.io/cluster-name',
    'eks:cluster-name',
  ];
  assert.deepEqual(settings({ set: { tags: 'not-k8s.io=a,weeks:a=b' } }).tags, { 'not-k8s.io': 'a', 'weeks:a': 'b' });
  for (const key of reserved)
    for (const text of [key, `${key} `])
      assert.throws(() => settings({ set: { tags: `${text}=owned` } }), /to whom it belongs/, key);
  assert.throws(() => settings({ set: { tags: 'a=<b>' } }), /only letters/);
  const many = Array.from({ length: 41 }, (_, i) => `k${i}`).join(',');
  assert.throws(() => settings({ set: { tags: many } }), /at most 40/);
  // What is more than it may be is not said.
  const long = `tenant=${'t'.repeat(257)}`;
  const subnets = Array.from({ length: 17 }, () => 'tenant').join(',');
  for (const set of [{ tags: `${many},tenant` }, { tags: long }, { subnets }])
    assert.throws(
      () => settings({ set }),
      ({ message }: Error) => /at most \d+/u.test(message) && !message.includes('tenant'),
    );
});

test('attributes of target groups are all said, so that one that is left out is set back', () => {
  const { targetGroupAttributes } = settings({
    set: { type: 'nlb', targetGroupAttributes: 'preserve_client_ip.enabled=false' },
  });
  assert.equal(targetGroupAttributes['preserve_client_ip.enabled'], 'false');
  assert.equal(targetGroupAttributes['proxy_protocol_v2.enabled'], 'false');
  const refused =
    (text: string, protocol: 'TCP' | 'UDP' = 'TCP') =>
    (): unknown =>
      settings({
        ports: [{ name: '', port: 1, nodePort: 2, protocol }],
        set: { type: 'nlb', targetGroupAttributes: text },
      });
  assert.throws(refused('constructor=true'), /has no attribute constructor/);
  assert.throws(refused('proxy_protocol_v2.enabled'), /cannot be empty/);
  assert.throws(refused('preserve_client_ip.enabled=false', 'UDP'), /UDP/);
});

test('addresses: public ones of a public NLB, private ones of an internal one', () => {
  const eips = { type: 'nlb', eipAllocations: 'eipalloc-00000001,eipalloc-00000002' };
  assert.deepEqual(settings({ set: eips }).eipAllocations, ['eipalloc-00000001', 'eipalloc-00000002']);
  assert.throws(() => settings({ set: { ...eips, internal: 'true' } }), /no public addresses/);
  assert.throws(() => settings({ set: { type: 'nlb', privateAddresses: '10.0.0.1' } }), /only an internal/);
  assert.throws(
    () => settings({ set: { type: 'nlb', eipAllocations: 'eipalloc-00000001,eipalloc-00000001' } }),
    /twice/,
  );
});

test('what only the other kind has, and what is not known, is ignored with a line', () => {
  const [clb] = warningsOf({ set: { eipAllocations: 'eipalloc-00000001' } });
  assert.match(`${clb}`, /eip-allocations is ignored: a Classic Load Balancer has no such setting/);
  const [nlb] = warningsOf({ set: { type: 'nlb', proxyProtocol: '*' } });
  assert.match(`${nlb}`, /proxy-protocol is ignored: a Network Load Balancer/);
  const scheme = 'service.beta.kubernetes.io/aws-load-balancer-scheme';
  const unknown = warningsOf({ annotations: { [scheme]: 'internal', [`${scheme}x`]: '' } });
  assert.equal(unknown.length, 1);
  assert.match(unknown.join(), /aws-load-balancer-scheme" \(and 1 others\) is ignored/);
});

test('node labels: a key alone stands for any value', () => {
  assert.deepEqual(
    [...targetLabelsOf(aService({ set: { nodeLabels: 'zone=a,gpu' } }))],
    [
      ['zone', 'a'],
      ['gpu', ''],
    ],
  );
});

test('each annotation that names something of the account, or by whose tags others choose, is marked, and each text is bounded', () => {
  const marked = annotations.declared.filter(({ dangerous }) => dangerous !== undefined).map(({ name }) => name);
  const keys = [
    'subnets',
    'eipAllocations',
    'privateAddresses',
    'tags',
    'securityGroups',
    'extraSecurityGroups',
    'certificate',
    'accessLogBucket',
    'accessLogPrefix',
  ] as const;
  assert.deepEqual(
    marked,
    keys.map((key) => annotationRows[key].name),
  );
  for (const { name } of Object.values(annotationRows)) {
    const refused = (): unknown => settingsOf(aService({ annotations: { [name]: 'x'.repeat(5_000) } }), {});
    assert.throws(refused, (error) => isCloudError(error, 'invalid') && error.message.length < 700, name);
  }
});
