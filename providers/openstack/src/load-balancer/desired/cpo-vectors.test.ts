/** What CPO's own test tables (`pkg/openstack/loadbalancer_test.go`) say of inputs, asked of ours. Differences say so. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { LoadBalancerService } from '@outrigger/cloud-provider';
import type { AnnotationKey } from './annotation-table.ts';
import { loadBalancerNames } from './load-balancer-names.ts';
import { addressOf } from './members.ts';
import { parseNodeSelector, selectNodes } from './node-selector.ts';
import { annotated, backEndOf, configOf, idOf, portOf, refusalFor, treeFor, twoNodes } from './tree-inputs.suite.ts';

type Annotations = Partial<Record<AnnotationKey, string>>;
const REF = `https://barbican.example/v1/containers/${idOf('tls')}`;

test('names: GetLoadBalancerName, getSecurityGroupName', () => {
  const nameOf = (uid: string, namespace: string, name: string, cluster = 'c'): readonly string[] => {
    const { loadBalancer, securityGroup } = loadBalancerNames({ uid, namespace, name }, { name: cluster });
    return [loadBalancer, securityGroup];
  };
  assert.deepEqual(nameOf('12345', 'ns', 'name', 'my-valid-cluster'), [
    'kube_service_my-valid-cluster_ns_name',
    'lb-sg-12345-ns-name',
  ]);
  assert.deepEqual(nameOf('', '', '', ''), ['kube_service___', 'lb-sg---']);
  const long = 'n'.repeat(250);
  assert.deepEqual(nameOf('12345', 'ns', long), [
    `kube_service_c_ns_${'n'.repeat(255 - 18)}`,
    `lb-sg-12345-ns-${'n'.repeat(255 - 15)}`,
  ]);
  assert.equal(
    loadBalancerNames({ uid: '0a1b2c3d-0000-4000-8000-000000000001', namespace: '', name: '' }, { name: '' }).legacy,
    'a0a1b2c3d00004000800000000000000',
  );
});

test('listeners: getListenerProtocol, buildListenerCreateOpt', () => {
  for (const [annotations, port, protocol] of [
    [{}, portOf(80), 'TCP'],
    [{}, portOf(53, 'UDP'), 'UDP'],
    [{}, portOf(7, 'SCTP'), 'SCTP'],
    [{ tlsContainerRef: REF }, portOf(443), 'TERMINATED_HTTPS'],
    [{ xForwardedFor: 'true' }, portOf(80), 'HTTP'],
    [{ tlsContainerRef: REF, xForwardedFor: 'true' }, portOf(443), 'TERMINATED_HTTPS'],
  ] as const) {
    const what: Annotations = { ...annotations, connectionLimit: '100' };
    const [listener] = treeFor({ annotations: annotated(what), ports: [port] }).listeners;
    assert.equal(listener?.protocol, protocol, JSON.stringify(what));
    assert.equal(listener.port, port.port);
    assert.equal(listener.connectionLimit, 100);
    assert.equal(listener.insertHeaders.xForwardedFor, 'xForwardedFor' in annotations);
    assert.equal(listener.tlsContainerRef, 'tlsContainerRef' in annotations ? REF : undefined);
  }
  const sourceRanges = ['192.168.1.0/24', '10.0.0.0/8'];
  assert.deepEqual(treeFor({ sourceRanges }).listeners[0]?.allowedCidrs, ['10.0.0.0/8', '192.168.1.0/24']);
});

test('pools: buildPoolCreateOpt', () => {
  const affinity: Partial<LoadBalancerService> = { clientIPAffinitySeconds: 10_800 };
  const poolFor = (
    annotations: Annotations,
    more: Partial<LoadBalancerService> = {},
    lbMethod = 'LEAST_CONNECTIONS',
  ) => {
    const config = configOf({ lbMethod });
    const pool = treeFor({ annotations: annotated(annotations), ...more }, { config }).listeners[0]?.pool;
    return [pool?.protocol, pool?.lbMethod, pool?.sessionPersistence?.type];
  };
  const both: Annotations = { tlsContainerRef: REF, xForwardedFor: 'true' };
  assert.deepEqual(poolFor({ tlsContainerRef: REF, proxyProtocol: 'true' }, affinity), [
    'PROXY',
    'LEAST_CONNECTIONS',
    'SOURCE_IP',
  ]);
  assert.deepEqual(poolFor({ tlsContainerRef: REF, proxyProtocol: 'v2' }, affinity), [
    'PROXYV2',
    'LEAST_CONNECTIONS',
    'SOURCE_IP',
  ]);
  assert.deepEqual(poolFor(both, affinity), ['HTTP', 'LEAST_CONNECTIONS', 'SOURCE_IP']);
  assert.deepEqual(poolFor(both), ['HTTP', 'LEAST_CONNECTIONS', undefined]);
  assert.deepEqual(poolFor({ lbMethod: 'ROUND_ROBIN' }), ['TCP', 'ROUND_ROBIN', undefined]);
  // CPO makes an HTTP pool of a UDP port here, which Octavia refuses for a UDP listener.
  assert.match(
    refusalFor({ annotations: annotated(both), ports: [portOf(53, 'UDP')] }),
    /^invalid: port 53\/UDP: .*default-tls-container-ref is for TCP only/,
  );
});

test('the PROXY protocol: getProxyProtocolFromServiceAnnotation', () => {
  for (const [value, protocol] of [
    ['false', 'TCP'],
    ['true', 'PROXY'],
    ['v1', 'PROXY'],
    ['v2', 'PROXYV2'],
    ['', 'TCP'],
  ] as const) {
    assert.equal(
      treeFor({ annotations: annotated({ proxyProtocol: value }) }).listeners[0]?.pool.protocol,
      protocol,
      value,
    );
  }
  assert.equal(treeFor().listeners[0]?.pool.protocol, 'TCP');
  // CPO takes it for none.
  assert.equal(
    treeFor({ annotations: annotated({ proxyProtocol: 'not valid value' }) }).listeners[0]?.pool.protocol,
    'TCP',
  );
});

test('monitors: buildMonitorCreateOpts', () => {
  const http = { method: 'GET', urlPath: '/healthz', expectedCodes: '200' };
  for (const [lbProvider, protocol, healthCheckNodePort, type, version] of [
    ['ovn', 'UDP', 32_100, 'UDP-CONNECT'],
    ['ovn', 'TCP', 31_200, 'TCP'],
    ['ovn', 'TCP', 0, 'TCP'],
    ['amphora', 'TCP', 31_000, 'HTTP'],
    ['amphora', 'TCP', 0, 'TCP'],
    ['amphora', 'UDP', 31_000, 'HTTP'],
    ['amphora', 'UDP', 31_000, 'UDP-CONNECT', '2.15'],
    ['amphora', 'SCTP', 0, 'SCTP'],
  ] as const) {
    const numbers: Annotations = {
      enableHealthMonitor: 'true',
      healthMonitorDelay: '6',
      healthMonitorTimeout: '5',
      healthMonitorMaxRetries: '4',
      healthMonitorMaxRetriesDown: '3',
    };
    const config = configOf({ lbProvider, lbMethod: lbProvider === 'ovn' ? 'SOURCE_IP_PORT' : 'ROUND_ROBIN' });
    const service = { externalTrafficPolicy: 'Local', healthCheckNodePort, ports: [portOf(80, protocol)] } as const;
    const tree = treeFor(
      { ...service, annotations: annotated(numbers) },
      { config, ...(version && { apiVersion: version }) },
    );
    const { monitor, members } = tree.listeners[0]?.pool ?? {};
    const name = 'monitor_0_kube_service_kubernetes_default_web';
    const expected = {
      name,
      type,
      delay: 6,
      timeout: 5,
      maxRetries: 4,
      maxRetriesDown: 3,
      ...(type === 'HTTP' && { http }),
    };
    assert.deepEqual(monitor, expected, `${lbProvider} ${protocol}`);
    assert.equal(members?.[0]?.monitorPort, type === 'HTTP' ? healthCheckNodePort : undefined);
  }
});

test('status: createLoadBalancerStatus', () => {
  const suffix = { enableIngressHostname: true, ingressHostnameSuffix: 'ingress-suffix' };
  const statusFor = (annotations: Annotations, config = {}) =>
    treeFor({ annotations: annotated(annotations) }, { config: configOf(config) }).status;
  assert.deepEqual(statusFor({ hostname: 'testHostName' }), { hostname: 'testHostName', ipMode: 'VIP' });
  assert.deepEqual(statusFor({ proxyProtocol: 'true' }, suffix), { hostnameSuffix: 'ingress-suffix', ipMode: 'Proxy' });
  assert.deepEqual(statusFor({}), { ipMode: 'VIP' });
  assert.deepEqual(statusFor({}, suffix), { ipMode: 'VIP' });
  assert.deepEqual(statusFor({ proxyProtocol: 'true' }), { ipMode: 'Proxy' });
});

test('numbers and booleans: getIntFromServiceAnnotation, getBoolFromServiceAnnotation', () => {
  const limitOf = (annotations: Annotations) =>
    treeFor({ annotations: annotated(annotations) }).listeners[0]?.connectionLimit;
  assert.equal(limitOf({}), -1);
  assert.equal(limitOf({ connectionLimit: '2' }), 2);
  const isInternal = (annotations: Annotations, internalLb = false) =>
    treeFor({ annotations: annotated(annotations) }, { config: configOf({ internalLb }) }).floatingIP.kind === 'none';
  assert.equal(isInternal({}), false);
  assert.equal(isInternal({ internal: 'true' }), true);
  assert.equal(isInternal({ internal: 'false' }, true), true);
  // CPO falls back to the default for these two. A Service that was to be internal is not exposed here for a slip of the pen.
  assert.equal(treeFor({ annotations: annotated({ connectionLimit: 'bar' }) }).listeners[0]?.connectionLimit, -1);
  assert.match(
    refusalFor({ annotations: annotated({ internal: 'invalid' }) }),
    /^invalid: .*openstack-internal-load-balancer: "invalid" is not "true" or "false"$/,
  );
});

test('addresses of nodes: nodeAddressForLB', () => {
  const V6 = '2001:db8:85a3::8a2e:370:7334';
  for (const [addresses, family, expected] of [
    [[], 'IPv4', undefined],
    [[], 'IPv6', undefined],
    [['192.168.1.1'], 'IPv4', '192.168.1.1'],
    [['2001:0db8:85a3:0000:0000:8a2e:0370:7334'], 'IPv6', V6],
    [['external:192.168.1.2', '192.168.1.1'], 'IPv4', '192.168.1.1'],
    [['external:2001:db8:85a3:3333:1111:8a2e:9999:8888', V6], 'IPv6', V6],
    [['192.168.1.1', V6], 'IPv6', V6],
    [['external:2009::1', V6, 'external:2001::2', '192.168.1.1'], 'IPv4', '192.168.1.1'],
    [['external:192.168.1.2'], 'IPv4', '192.168.1.2'],
    [[V6, '192.168.0.1', '2001:db8::2'], 'IPv6', V6],
    [[V6], 'IPv4', undefined],
    [['192.168.1.1'], 'IPv6', undefined],
    [['example.com'], 'IPv4', undefined],
  ] as const) {
    assert.equal(addressOf(backEndOf('n', addresses), family), expected, `${addresses.join()} ${family}`);
  }
  const named = { ...backEndOf('n', []), addresses: [{ type: 'ExternalDNS', address: '192.168.1.1' }] as const };
  assert.equal(addressOf(named, 'IPv4'), undefined);
});

test('members: buildBatchUpdateMemberOpts', () => {
  const member = { name: 'node-1', address: '192.168.1.1', port: 8080, subnetId: idOf('subnet') };
  const membersFor = (nodePort: number, backEnds = twoNodes) => {
    const annotations = annotated({ memberSubnetId: idOf('subnet') });
    return treeFor({ annotations, ports: [portOf(80, 'TCP', nodePort)] }, { backEnds }).listeners[0]?.pool.members;
  };
  assert.deepEqual(membersFor(0), []);
  assert.deepEqual(membersFor(8080), [member, { ...member, name: 'node-2', address: '192.168.1.2' }]);
  assert.deepEqual(membersFor(8080, [backEndOf('node-1', [])]), []);
});

test('which subnet and network: getMemberSubnetID, getSubnetID, getNetworkID', () => {
  const config = configOf(
    {
      memberSubnetId: idOf('member of config'),
      subnetId: idOf('subnet of config'),
      networkId: idOf('network of config'),
    },
    {
      gold: {
        memberSubnetId: idOf('member of class'),
        subnetId: idOf('subnet of class'),
        networkId: idOf('network of class'),
      },
    },
  );
  const set = { memberSubnetId: idOf('m'), subnetId: idOf('s'), networkId: idOf('n') };
  const idsFor = (annotations: Annotations) => {
    const { loadBalancer, listeners } = treeFor({ annotations: annotated(annotations) }, { config });
    return [listeners[0]?.pool.members[0]?.subnetId, loadBalancer.vip.subnetId, loadBalancer.vip.networkId];
  };
  const internal = { internal: 'true' };
  const ofClass = [idOf('member of class'), idOf('subnet of class'), idOf('network of class')];
  assert.deepEqual(idsFor({}), [idOf('member of config'), idOf('subnet of config'), idOf('network of config')]);
  assert.deepEqual(idsFor({ class: 'gold' }), ofClass);
  assert.deepEqual(idsFor({ ...set }), [idOf('m'), idOf('s'), idOf('n')]);
  assert.deepEqual(idsFor({ ...set, class: 'gold', ...internal }), [idOf('m'), idOf('s'), idOf('n')]);
  // `createOctaviaLoadBalancer`: of an external Service the class goes first for the VIP.
  assert.deepEqual(idsFor({ ...set, class: 'gold' }), [idOf('m'), ...ofClass.slice(1)]);
  for (const annotations of [{ class: 'lead' }, { class: 'lead', ...set }, { class: 'lead', ...internal }]) {
    assert.match(
      refusalFor({ annotations: annotated(annotations) }, { config }),
      /^invalid: .*\/class: "lead": the cloud config has no such class \(it has: gold\)$/,
    );
  }
});

test('node selectors: filterNodes', () => {
  for (const [selector, labels, taken] of [
    ['', { k1: 'v1' }, true],
    ['k1=v1,k2=v2', { k1: 'v1', k2: 'v2' }, true],
    ['k1=v1,k2=v2=true', { k1: 'v1', k2: 'v2=true' }, true],
    ['k1,k2', { k1: 'v1', k2: 'v2' }, true],
    ['k1=,k2', { k1: 'v1', k2: 'v2' }, true],
    [' k1=v1, k2 ', { k1: 'v1' }, false],
    ['k3=v3', { k1: 'v1', k2: 'v2' }, false],
    ['k1=v2', { k1: 'v1' }, false],
    ['toString', { k1: 'v1' }, false],
  ] as const) {
    assert.equal(selectNodes(selector, [backEndOf('n', [], labels)]).length === 1, taken, selector);
  }
  assert.deepEqual(
    [...parseNodeSelector('a=1, b ,a=2,')],
    [
      ['a', '2'],
      ['b', ''],
    ],
  );
});
