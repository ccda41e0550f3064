import assert from 'node:assert/strict';
import { test } from 'node:test';
import { settingsOf } from '../annotations/service-settings.ts';
import { aService } from '../annotations/a-service.suite.ts';
import { nodeRulesOf } from './node-rules.ts';
import { permissionOf, rulesIn, rulesOf } from './rules.ts';

const listener = (port: number, protocol: 'TCP' | 'UDP' | 'TCP_UDP' | 'TLS') =>
  ({ port, protocol, nodePort: 30_000, targetProtocol: 'TCP' }) as const;

test('a rule for each port and range, and path MTU discovery for each range', () => {
  const rules = rulesOf({
    listeners: [listener(443, 'TLS'), listener(53, 'TCP_UDP')],
    sourceRanges: ['10.0.0.0/8', 'fd00::/8'],
  });
  assert.deepEqual(rules, [
    'icmp 3-4 10.0.0.0/8',
    'icmpv6 2-0 fd00::/8',
    'tcp 443-443 10.0.0.0/8',
    'tcp 443-443 fd00::/8',
    'tcp 53-53 10.0.0.0/8',
    'tcp 53-53 fd00::/8',
    'udp 53-53 10.0.0.0/8',
    'udp 53-53 fd00::/8',
  ]);
});

test('more rules than AWS can have at an interface are refused before ports and ranges are multiplied', () => {
  const portsOf = (count: number) =>
    Array.from(
      { length: count },
      (_, i) => ({ name: '', port: i + 1, protocol: 'TCP', nodePort: 30_000 + i }) as const,
    );
  const rangesOf = (count: number, ...more: readonly string[]) => [
    ...Array.from({ length: count }, (_, i) => `10.${i >> 8}.${i & 255}.0/24`),
    ...more,
  ];
  const ask = (ports: number, ranges: readonly string[]) =>
    settingsOf(
      aService({ ports: portsOf(ports), sourceRanges: ranges, ipFamilies: ['IPv4', 'IPv6'], set: { type: 'nlb' } }),
      {},
    );
  assert.equal(rulesOf(ask(10, rangesOf(90))).length, 990);
  // Each family has its own thousand.
  assert.equal(rulesOf(ask(100, rangesOf(9, 'fd00::/8'))).length, 1_010);
  const most = ask(1_000, rangesOf(4_096));
  for (const rules of [() => rulesOf(most), () => nodeRulesOf(most, ['10.0.0.0/8'])])
    assert.throws(rules, {
      code: 'invalid',
      message: /^1000 ports and 4096 source ranges need 4096000 rules .* 1000 at most/u,
    });
  assert.throws(() => rulesOf(ask(11, rangesOf(91))), { code: 'invalid' });
});

test('what EC2 shows is read back as it was asked for', () => {
  const rules = [
    'all sg-00000001',
    'icmpv6 2-0 fd00::/8',
    'tcp 80-80 10.0.0.0/8',
    'tcp 80-90 pl-00000001',
    'udp 53-53 sg-00000002',
  ];
  assert.deepEqual(rulesIn(rules.map((rule) => permissionOf(rule, ''))), rules);
  const grouped = {
    IpProtocol: '6',
    FromPort: 80,
    ToPort: 80,
    IpRanges: [{ CidrIp: '10.0.0.0/8' }, { CidrIp: '192.168.0.0/16' }],
    Ipv6Ranges: [{ CidrIpv6: 'FD00:0::/8' }],
  };
  assert.deepEqual(rulesIn([grouped]), ['tcp 80-80 10.0.0.0/8', 'tcp 80-80 192.168.0.0/16', 'tcp 80-80 fd00::/8']);
  assert.throws(() => permissionOf('tcp 80', ''), /is no rule/);
});
