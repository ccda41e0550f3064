import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { LoadBalancerService } from '@outrigger/cloud-provider';
import type { AnnotationKey } from './annotation-table.ts';
import { desiredTree } from './desired-tree-of.ts';
import { annotated, backEndOf, configOf, idOf, inputOf, portOf, refusalFor, treeFor } from './tree-inputs.suite.ts';

type Annotations = Partial<Record<AnnotationKey, string>>;
const ovn = configOf({ lbProvider: 'ovn', lbMethod: 'SOURCE_IP_PORT' });
const dual = { ipFamilies: ['IPv4', 'IPv6'], ipFamilyPolicy: 'RequireDualStack' } as const;
const warningsFor = (...input: Parameters<typeof inputOf>): string[] => {
  const result = desiredTree(inputOf(...input));
  assert.equal(result.kind, 'tree');
  return result.warnings.map(({ reason, message }) => `${reason}: ${message}`);
};

test('a plain Service, in full', () => {
  const name = 'kube_service_kubernetes_default_web';
  assert.deepEqual(treeFor(), {
    loadBalancer: {
      names: {
        loadBalancer: name,
        legacy: 'a0a1b2c3d00004000800000000000000',
        securityGroup: 'lb-sg-0a1b2c3d-0000-4000-8000-000000000001-default-web',
      },
      description: 'Kubernetes Service default/web of cluster kubernetes',
      provider: 'amphora',
      vip: {
        family: 'IPv4',
        subnetOf: ['1', '2'].map((at) => ({
          nodeName: `node-${at}`,
          providerID: `openstack:///${idOf(`node-${at}`)}`,
          address: `192.168.1.${at}`,
        })),
      },
      additionalVips: [],
      serial: false,
      cascadeDelete: true,
    },
    listeners: [
      {
        name: `listener_0_${name}`,
        protocol: 'TCP',
        port: 80,
        connectionLimit: -1,
        allowedCidrs: ['0.0.0.0/0'],
        timeouts: { clientData: 50_000, memberConnect: 5_000, memberData: 50_000, tcpInspect: 0 },
        insertHeaders: { xForwardedFor: false },
        pool: {
          name: `pool_0_${name}`,
          protocol: 'TCP',
          lbMethod: 'ROUND_ROBIN',
          sessionPersistence: null,
          members: [
            { name: 'node-1', address: '192.168.1.1', port: 30_080 },
            { name: 'node-2', address: '192.168.1.2', port: 30_080 },
          ],
        },
      },
    ],
    floatingIP: {
      kind: 'any',
      keep: false,
      description: 'Floating IP for Kubernetes external service default/web of cluster kubernetes',
    },
    status: { ipMode: 'VIP' },
    places: [],
  });
});

test('two families are one load balancer with two VIPs, and never have an access list', () => {
  const tree = treeFor({ ...dual, ports: [portOf(80), portOf(53, 'UDP')] });
  assert.deepEqual(tree.loadBalancer.additionalVips, [{ family: 'IPv6' }]);
  assert.deepEqual(
    tree.listeners.map(({ allowedCidrs }) => allowedCidrs),
    [[], []],
  );
  const [tcp, udp] = tree.listeners.map(({ pool }) => pool.members.map(({ address }) => address));
  assert.deepEqual(tcp, ['192.168.1.1', '192.168.1.2'], 'a proxy reaches a node by either family');
  assert.deepEqual(udp, ['192.168.1.1', 'fd00::1', '192.168.1.2', 'fd00::2'], 'packets keep their family');
  const onlySix = treeFor(dual, { backEnds: [backEndOf('six', ['fd00::6'])] });
  assert.deepEqual(onlySix.listeners[0]?.pool.members[0]?.address, 'fd00::6');
  assert.deepEqual(treeFor(dual, { config: ovn }).listeners[0]?.pool.members.length, 4);
});

for (const ipFamilyPolicy of ['PreferDualStack', 'RequireDualStack'] as const) {
  test(`${ipFamilyPolicy}: the first family is served where both cannot be, as by CPO, and a person is told`, () => {
    const both = { ...dual, ipFamilyPolicy };
    const closed = { ...both, sourceRanges: ['10.0.0.0/8', 'fd00::/8'] };
    const tree = treeFor(closed);
    assert.deepEqual(tree.loadBalancer.additionalVips, []);
    assert.deepEqual(tree.listeners[0]?.allowedCidrs, ['10.0.0.0/8']);
    const told = new RegExp(`^LoadBalancerSingleStack: Only IPv4 is served, and .* is ${ipFamilyPolicy}: .*`);
    assert.match(warningsFor(closed).join(), new RegExp(`${told.source}source ranges`));
    assert.match(
      warningsFor(both, { apiVersion: '2.25' }).join(),
      new RegExp(`${told.source}need Octavia API 2.26, and this is 2.25$`),
    );
    assert.deepEqual(treeFor(both).loadBalancer.additionalVips, [{ family: 'IPv6' }]);
  });
}

test('source ranges', () => {
  const cidrsFor = (sourceRanges: readonly string[], more: Partial<LoadBalancerService> = {}) =>
    treeFor({ sourceRanges, ...more }).listeners[0]?.allowedCidrs;
  assert.deepEqual(cidrsFor([], { ipFamilies: ['IPv6'] }), ['::/0']);
  assert.deepEqual(cidrsFor([' 10.1.2.3/8', '10.0.0.0/8', '192.168.32.1/24']), ['10.0.0.0/8', '192.168.32.0/24']);
  assert.deepEqual(cidrsFor(['10.0.0.0/8', 'fd00::/8']), ['10.0.0.0/8'], 'nobody of IPv6 reaches an IPv4 VIP');
  // An empty list would let everybody in.
  assert.match(
    refusalFor({ sourceRanges: ['fd00::/8'] }),
    /^invalid: no source range is of family IPv4: fd00::\/8 would block all clients$/,
  );
  assert.match(refusalFor({ sourceRanges: ['10.0.0.0'] }), /^invalid: source range "10.0.0.0" is not a range/);
  assert.equal(treeFor({}, { apiVersion: '2.11' }).listeners[0]?.allowedCidrs, undefined);
  assert.match(
    refusalFor({ sourceRanges: ['10.0.0.0/8'] }, { apiVersion: '2.11' }),
    /^unsupported: loadBalancerSourceRanges: .*amphora \(Octavia API 2.11\) has no access lists$/,
  );
});

test('the provider ovn: packets, not connections', () => {
  const tree = treeFor({ ports: [portOf(80), portOf(53, 'UDP')] }, { config: ovn });
  for (const { pool, ...listener } of tree.listeners) {
    assert.equal(pool.lbMethod, 'SOURCE_IP_PORT');
    assert.ok(!('timeouts' in listener) && !('allowedCidrs' in listener));
  }
  const sourceRanges = ['10.0.0.0/8'];
  assert.match(refusalFor({ sourceRanges }, { config: ovn }), /has no access lists; with manage-security-groups=true/);
  const guarded = configOf({ ...ovn.loadBalancer, manageSecurityGroups: true });
  assert.deepEqual(treeFor({ sourceRanges }, { config: guarded }).securityGroup?.rules, [
    { protocol: 'tcp', port: 30_080, family: 'IPv4', cidr: '10.0.0.0/8' },
  ]);
  for (const [annotations, refused] of [
    [{ xForwardedFor: 'true' }, /x-forwarded-for: "true": .*ovn .* is not a proxy/],
    [{ proxyProtocol: 'v2' }, /proxy-protocol: "v2": .*ovn .* is not a proxy/],
    [{ tlsContainerRef: 'https://b/v1/secrets/1' }, /default-tls-container-ref: .*ovn .* is not a proxy/],
    [{ lbMethod: 'ROUND_ROBIN' }, /lb-method: "ROUND_ROBIN": .*ovn .* has SOURCE_IP_PORT, SOURCE_IP$/],
  ] as const) {
    assert.match(refusalFor({ annotations: annotated(annotations) }, { config: ovn }), refused);
  }
  const asked = treeFor({ annotations: annotated({ lbMethod: 'SOURCE_IP' }) }, { config: ovn });
  assert.equal(asked.listeners[0]?.pool.lbMethod, 'SOURCE_IP');
  const byDefault = treeFor({}, { config: configOf({ lbProvider: 'ovn' }) });
  assert.equal(byDefault.listeners[0]?.pool.lbMethod, 'SOURCE_IP_PORT');
  assert.match(
    refusalFor({}, { config: configOf({ lbProvider: 'ovn', lbMethod: 'FASTEST' }) }),
    /^invalid: cloud config: \[LoadBalancer\] lb-method: "FASTEST": .*has SOURCE_IP_PORT, SOURCE_IP$/,
  );
  const ignored = annotated({ flavorId: idOf('f'), timeoutClientData: '1' });
  assert.deepEqual(
    warningsFor({ annotations: ignored }, { config: ovn }).map((text) => /annotation \S+/.exec(text)?.[0]),
    ['annotation loadbalancer.openstack.org/timeout-client-data', 'annotation loadbalancer.openstack.org/flavor-id'],
  );
  const watched = annotated({ enableHealthMonitor: 'true' });
  assert.match(
    refusalFor({ annotations: watched, ports: [portOf(7, 'SCTP')] }, { config: ovn }),
    /^unsupported: port 7\/SCTP: .*enable-health-monitor: "false"$/,
  );
});

test('where the floating IP comes from: class, annotation, config', () => {
  const config = configOf(
    { floatingNetworkId: idOf('config'), floatingSubnet: 'pool-*' },
    { gold: { floatingNetworkId: idOf('gold'), floatingSubnetTags: 'a,b' }, lead: { floatingSubnetId: idOf('lead') } },
  );
  const wishFor = (annotations: Annotations, more: Partial<LoadBalancerService> = {}) => {
    const { description: _, ...wish } = {
      description: '',
      ...treeFor({ annotations: annotated(annotations), ...more }, { config }).floatingIP,
    };
    return wish;
  };
  const any = { kind: 'any', keep: false };
  assert.deepEqual(wishFor({}), { ...any, networkId: idOf('config'), subnets: { name: 'pool-*' } });
  assert.deepEqual(wishFor({ class: 'gold' }), { ...any, networkId: idOf('gold'), subnets: { tags: 'a,b' } });
  assert.deepEqual(wishFor({ class: 'lead', floatingSubnetId: idOf('s') }), {
    ...any,
    networkId: idOf('config'),
    subnets: { subnetId: idOf('lead') },
  });
  assert.deepEqual(wishFor({ floatingSubnet: '!x', floatingSubnetTags: '&a', floatingNetworkId: '' }), {
    ...any,
    subnets: { name: '!x', tags: '&a' },
  });
  assert.deepEqual(wishFor({ keepFloatingIP: 'true', floatingSubnetId: idOf('s') }, { requestedIP: '203.0.113.9' }), {
    kind: 'address',
    keep: true,
    networkId: idOf('config'),
    address: '203.0.113.9',
    subnetId: idOf('s'),
  });
  assert.deepEqual(wishFor({ internal: 'true' }), { kind: 'none', keep: false });
  assert.deepEqual(wishFor({}, { ipFamilies: ['IPv6'] }), { kind: 'none', keep: false });
  assert.equal(wishFor({}, { ...dual, ipFamilies: ['IPv6', 'IPv4'] }).kind, 'any');
  assert.match(
    refusalFor({ annotations: annotated({ floatingSubnet: '~(' }) }),
    /^invalid: annotation loadbalancer.openstack.org\/floating-subnet: "~\(": .*missing closing \)/,
  );
  // Of one that is more than it may be the text is not said.
  for (const floatingSubnet of [`{${'tenant,'.repeat(33)}}`, '~(tenant){101}']) {
    const refusal = refusalFor({ annotations: annotated({ floatingSubnet }) });
    assert.match(
      refusal,
      /^invalid: annotation loadbalancer.openstack.org\/floating-subnet: the pattern has more than \d+/,
    );
    assert.ok(!refusal.includes('tenant'), refusal);
  }
  const broken = configOf({}, { gold: { floatingSubnet: '~[' } });
  assert.match(
    refusalFor({ annotations: annotated({ class: 'gold' }) }, { config: broken }),
    /^invalid: cloud config: \[LoadBalancerClass "gold"\] floating-subnet: "~\["/,
  );
});

test('loadBalancerIP is the VIP’s own of an internal or IPv6 load balancer', () => {
  const internal = { annotations: annotated({ internal: 'true' }) };
  assert.equal(treeFor({ ...internal, requestedIP: '10.0.0.9' }).loadBalancer.vip.address, '10.0.0.9');
  assert.equal(treeFor({ ipFamilies: ['IPv6'], requestedIP: 'fd00:0::9' }).loadBalancer.vip.address, 'fd00::9');
  assert.equal(treeFor({ requestedIP: '203.0.113.9' }).loadBalancer.vip.address, undefined);
  for (const requestedIP of ['fd00::9', 'web.example', '10.0.0']) {
    assert.match(
      refusalFor({ requestedIP }),
      new RegExp(`^invalid: loadBalancerIP "${requestedIP}" is not an IPv4 address$`),
    );
  }
});

test('the VIP: a port alone, else subnet and network, else where the nodes are, the oldest first', () => {
  const vipFor = (annotations: Annotations) => treeFor({ annotations: annotated(annotations) }).loadBalancer.vip;
  assert.deepEqual(vipFor({ portId: idOf('p'), subnetId: idOf('s') }), { family: 'IPv4', portId: idOf('p') });
  assert.deepEqual(vipFor({ networkId: idOf('n') }), { family: 'IPv4', networkId: idOf('n') });
  const backEnds = [backEndOf('b', ['192.168.1.2']), backEndOf('a', ['fd00::1'])];
  const oldest = { ...backEnds[0]!, node: { ...backEnds[0]!.node, name: 'c', createdAt: 1 } };
  const { subnetOf } = treeFor({}, { backEnds: [...backEnds, oldest] }).loadBalancer.vip;
  assert.deepEqual(
    subnetOf?.map(({ nodeName }) => nodeName),
    ['c', 'b'],
  );
  assert.deepEqual(treeFor({}, { backEnds: [] }).loadBalancer.vip, { family: 'IPv4' });
});

test('a load balancer that is named is used, and shared only with Services from outside', () => {
  const existingFor = (annotations: Annotations) =>
    treeFor({ annotations: annotated({ loadBalancerId: idOf('lb'), ...annotations }) }).loadBalancer.existing;
  assert.deepEqual(existingFor({}), { id: idOf('lb'), maxShared: 2, mayShare: true });
  assert.deepEqual(existingFor({ internal: 'true' }), { id: idOf('lb'), maxShared: 2, mayShare: false });
  assert.match(
    refusalFor({ annotations: annotated({ loadBalancerId: 'web' }) }),
    /load-balancer-id: "web" is not an ID/,
  );
});

test('what members’ ports let in', () => {
  const config = configOf({ manageSecurityGroups: true });
  const rulesFor = (service: Partial<LoadBalancerService>) => treeFor(service, { config }).securityGroup?.rules;
  assert.equal(treeFor().securityGroup, undefined);
  const local = { externalTrafficPolicy: 'Local', healthCheckNodePort: 32_000 } as const;
  const ports = [portOf(80), portOf(53, 'UDP')];
  const annotations = annotated({ memberSubnetId: idOf('m'), enableHealthMonitor: 'true' });
  assert.deepEqual(rulesFor({ ports, annotations, ...local }), [
    { protocol: 'tcp', port: 30_080, family: 'IPv4' },
    { protocol: 'tcp', port: 32_000, family: 'IPv4' },
    { protocol: 'udp', port: 30_053, family: 'IPv4' },
  ]);
  assert.deepEqual(rulesFor({ ports: [portOf(53, 'UDP')], annotations, ...dual }), [
    { protocol: 'udp', port: 30_053, family: 'IPv4' },
    { protocol: 'udp', port: 30_053, family: 'IPv6' },
  ]);
});

test('one listener for TCP and one for UDP on one port; no port twice', () => {
  const { listeners } = treeFor({ ports: [portOf(53), portOf(53, 'UDP')] });
  assert.deepEqual(
    listeners.map(({ protocol, port, name }) => [protocol, port, name.slice(0, 11)]),
    [
      ['TCP', 53, 'listener_0_'],
      ['UDP', 53, 'listener_1_'],
    ],
  );
  assert.match(refusalFor({ ports: [portOf(80), portOf(80)] }), /^invalid: port 80\/TCP is listed twice$/);
  assert.match(refusalFor({ ports: [] }), /^invalid: the Service has no ports$/);
  assert.match(
    refusalFor({ ports: [portOf(7, 'SCTP')] }, { apiVersion: '2.22' }),
    /^unsupported: port 7\/SCTP: .*2.22\) does not support SCTP/,
  );
});

test('the PROXY protocol: not with X-Forwarded-For, not over UDP, v2 since 2.22', () => {
  const proxied = annotated({ proxyProtocol: 'v2' });
  assert.match(
    refusalFor({ annotations: annotated({ proxyProtocol: 'v1', xForwardedFor: 'true' }) }),
    /^invalid: annotation .*proxy-protocol: "v1": not together with .*x-forwarded-for$/,
  );
  assert.match(
    refusalFor({ annotations: proxied, ports: [portOf(80), portOf(53, 'UDP')] }),
    /^invalid: port 53\/UDP: .*proxy-protocol is for TCP only/,
  );
  assert.match(
    refusalFor({ annotations: proxied }, { apiVersion: '2.21' }),
    /^invalid: .*proxy-protocol: "v2": .*2.21\) does not support it/,
  );
  assert.equal(treeFor({ annotations: proxied }, { apiVersion: '2.22' }).listeners[0]?.pool.protocol, 'PROXYV2');
});

test('TLS ends at the load balancer where a reference says so', () => {
  const config = configOf({ defaultTlsContainerRef: 'https://barbican.example/v1/containers/7' });
  assert.equal(treeFor({}, { config }).listeners[0]?.protocol, 'TERMINATED_HTTPS');
  assert.equal(treeFor({ annotations: annotated({ tlsContainerRef: '' }) }, { config }).listeners[0]?.protocol, 'TCP');
  const own = { annotations: annotated({ tlsContainerRef: 'cert-7' }) };
  assert.match(
    refusalFor(own),
    /^invalid: .*default-tls-container-ref: "cert-7": .*\/containers\/<id> or \/secrets\/<id>$/,
  );
  const external = configOf({ containerStore: 'external' });
  assert.equal(treeFor(own, { config: external }).listeners[0]?.tlsContainerRef, 'cert-7');
  assert.match(
    refusalFor({ annotations: annotated({ tlsContainerRef: 'c'.repeat(256) }) }, { config: external }),
    /at most 255 characters$/,
  );
});

test('an address that two nodes have is one member, and texts keep to 255 characters', () => {
  const backEnds = [backEndOf('b', ['10.0.0.1']), backEndOf('a', ['10.0.0.1']), backEndOf('c', [])];
  assert.deepEqual(treeFor({}, { backEnds }).listeners[0]?.pool.members, [
    { name: 'a', address: '10.0.0.1', port: 30_080 },
  ]);
  const { loadBalancer, listeners } = treeFor({ name: 'n'.repeat(300) });
  for (const text of [
    loadBalancer.description,
    loadBalancer.names.loadBalancer,
    listeners[0]?.name,
    listeners[0]?.pool.name,
  ]) {
    assert.equal(text?.length, 255);
  }
});

test('Local without a health monitor, and an internal cloud, are told', () => {
  assert.match(
    warningsFor({ externalTrafficPolicy: 'Local', healthCheckNodePort: 1 }).join(),
    /^LoadBalancerHealthMonitorNeeded: .*enable-health-monitor/,
  );
  assert.deepEqual(warningsFor({ externalTrafficPolicy: 'Local' }, { config: configOf({ createMonitor: true }) }), []);
  const config = configOf({ internalLb: true });
  assert.match(
    warningsFor({ annotations: annotated({ internal: 'false' }) }, { config }).join(),
    /^LoadBalancerForcedInternal: .*internal-lb=true/,
  );
  assert.deepEqual(warningsFor({}, { config }), []);
});

test('Octavia before tags is refused', () => {
  assert.throws(() => treeFor({}, { apiVersion: '2.4' }), {
    code: 'unsupported',
    message: /version "2.4": load balancers need 2.5/,
  });
});
