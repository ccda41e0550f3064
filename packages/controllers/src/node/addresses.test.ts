import assert from 'node:assert/strict';
import { test } from 'node:test';
import { canonicalIp, type NodeAddress } from '@outrigger/cloud-provider';
import * as fc from 'fast-check';
import { sameAddresses, wantedAddresses, type StatusAddress } from './addresses.ts';
import { parseProvidedNodeIp } from './provided-node-ip.ts';

const internal = (address: string): NodeAddress => ({ type: 'InternalIP', address });
const external = (address: string): NodeAddress => ({ type: 'ExternalIP', address });
const host: NodeAddress = { type: 'Hostname', address: 'host' };

interface Vector {
  /** Of the case in upstream's TestGetNodeAddressesFromNodeIP. */
  readonly name: string;
  readonly provided: string;
  readonly cloud: readonly NodeAddress[];
  /** `undefined`: refused. */
  readonly wanted: readonly NodeAddress[] | undefined;
}

const v6 = 'fc01:1234::5678';
const pair = `10.1.1.1,${v6}`;
const vectors: readonly Vector[] = [
  {
    name: 'A single InternalIP',
    provided: '10.1.1.1',
    cloud: [internal('10.1.1.1'), host],
    wanted: [internal('10.1.1.1'), host],
  },
  {
    name: 'NodeIP is external',
    provided: '55.55.55.55',
    cloud: [internal('10.1.1.1'), external('55.55.55.55'), host],
    wanted: [external('55.55.55.55'), internal('10.1.1.1'), host],
  },
  {
    name: 'InternalIP and ExternalIP are the same',
    provided: '55.55.55.55',
    cloud: [internal('44.44.44.44'), external('44.44.44.44'), internal('55.55.55.55'), external('55.55.55.55'), host],
    wanted: [internal('55.55.55.55'), external('55.55.55.55'), host],
  },
  {
    name: 'An Internal with multiple internal IPs',
    provided: '10.1.1.1',
    cloud: [internal('10.1.1.1'), internal('10.2.2.2'), internal('10.3.3.3'), external('55.55.55.55'), host],
    wanted: [internal('10.1.1.1'), external('55.55.55.55'), host],
  },
  {
    name: "An InternalIP that isn't valid: should error",
    provided: '10.2.2.2',
    cloud: [internal('10.1.1.1'), host],
    wanted: undefined,
  },
  {
    name: 'Dual-stack cloud, with nodeIP, different IPv6 formats',
    provided: '2600:1f14:1d4:d101::ba3d',
    cloud: [internal('10.1.1.1'), internal('2600:1f14:1d4:d101:0:0:0:ba3d'), host],
    wanted: [internal('2600:1f14:1d4:d101:0:0:0:ba3d'), host],
  },
  {
    name: 'Single-stack cloud, dual-stack request',
    provided: pair,
    cloud: [internal('10.1.1.1'), host],
    wanted: undefined,
  },
  {
    name: 'Dual-stack cloud, IPv6 first, IPv4-primary request',
    provided: pair,
    cloud: [internal(v6), internal('10.1.1.1'), host],
    wanted: [internal('10.1.1.1'), internal(v6), host],
  },
  {
    name: 'Dual-stack cloud, dual-stack request, multiple IPs',
    provided: pair,
    cloud: [internal('10.1.1.1'), internal('10.1.1.2'), internal('fc01:1234::1234'), internal(v6), host],
    wanted: [internal('10.1.1.1'), internal(v6), host],
  },
  {
    name: 'Dual-stack cloud, dual-stack request, extra ExternalIP',
    provided: pair,
    cloud: [internal('10.1.1.1'), external('55.55.55.55'), internal('fc01:1234::1234'), internal(v6), host],
    wanted: [internal('10.1.1.1'), internal(v6), external('55.55.55.55'), host],
  },
  {
    name: 'Dual-stack cloud, dual-stack request, multiple ExternalIPs',
    provided: `${v6},10.1.1.1`,
    cloud: [internal('10.1.1.1'), external('55.55.55.55'), internal(v6), external('2001:db1::1'), host],
    wanted: [internal(v6), internal('10.1.1.1'), external('55.55.55.55'), external('2001:db1::1'), host],
  },
  {
    name: 'Dual-stack cloud, dual-stack request, mixed InternalIP/ExternalIP match',
    provided: `55.55.55.55,${v6}`,
    cloud: [internal('10.1.1.1'), external('55.55.55.55'), internal(v6), external('2001:db1::1'), host],
    wanted: [external('55.55.55.55'), internal(v6), host],
  },
];

function withProvided(provided: string): { metadata: { annotations: Record<string, string> } } {
  return { metadata: { annotations: { 'alpha.kubernetes.io/provided-node-ip': provided } } };
}

for (const { name, provided, cloud, wanted } of vectors) {
  test(`a provided node IP chooses as upstream: ${name}`, () => {
    const result = wantedAddresses(withProvided(provided), cloud);
    if (wanted) assert.deepEqual(result, { kind: 'known', addresses: wanted });
    else assert.equal(result.kind, 'refused');
  });
}

test('an annotation that is no address, too many, or twice one family is refused', () => {
  for (const bad of [
    '',
    'x',
    '10.0.0.1,',
    '10.0.0.1, fd00::1',
    '10.0.0.1,10.0.0.2',
    'fd00::1,fd00::2',
    '10.0.0.1,fd00::1,fd00::2',
    '0.0.0.0,fd00::1',
    '10.0.0.1,::',
    'fe80::1%eth0',
  ]) {
    assert.equal(parseProvidedNodeIp(bad).kind, 'invalid', bad);
    assert.equal(wantedAddresses(withProvided(bad), [internal('10.0.0.1')]).kind, 'refused', bad);
  }
});

test('one address has one form, however it is written', () => {
  assert.equal(canonicalIp('010.001.000.1'), '10.1.0.1');
  assert.equal(canonicalIp('::ffff:10.0.0.1'), '10.0.0.1');
  assert.equal(canonicalIp('FD00:0:0::01'), 'fd00::1');
  for (const text of ['', 'host', '1.2.3', '256.1.1.1', ':::']) assert.equal(canonicalIp(text), undefined, text);
});

test('an empty list is unknown: it says nothing about the addresses that are there', () => {
  const node = { status: { addresses: [internal('10.0.0.1')] } };
  assert.deepEqual(wantedAddresses(node, []), { kind: 'unknown' });
  assert.deepEqual(wantedAddresses(node), { kind: 'unknown' });
  assert.deepEqual(wantedAddresses(node, [internal('')]), { kind: 'unknown' });
  assert.equal(wantedAddresses(withProvided('10.0.0.1'), []).kind, 'refused');
});

test("the kubelet's host name stays when the cloud gives none, and goes when it gives one", () => {
  const node = { status: { addresses: [host, internal('10.9.9.9')] } };
  assert.deepEqual(wantedAddresses(node, [internal('10.0.0.1')]), {
    kind: 'known',
    addresses: [internal('10.0.0.1'), host],
  });
  const other: NodeAddress = { type: 'Hostname', address: 'other' };
  assert.deepEqual(wantedAddresses(node, [other]), { kind: 'known', addresses: [other] });
});

test('an address that is given twice is written once', () => {
  const cloud = [internal('10.0.0.1'), internal('10.0.0.1'), external('10.0.0.1'), internal('10.0.0.2')];
  assert.deepEqual(wantedAddresses({}, cloud), {
    kind: 'known',
    addresses: [internal('10.0.0.1'), external('10.0.0.1'), internal('10.0.0.2')],
  });
});

test('a changed address, another first one, one more and one less are changes; another order of the types is none', () => {
  const [a, b, c] = [internal('10.0.0.1'), internal('fd00::1'), external('1.2.3.4')];
  assert.ok(sameAddresses([a, b, c], [c, a, b]));
  for (const other of [
    [b, a, c],
    // Of a node with two of one type, either alone.
    [internal('10.0.0.2'), b, c],
    [a, internal('fd00::2'), c],
    [a, b],
    [a, b, c, host],
    [a, b, external('1.2.3.5')],
    [a, b, { ...c, type: 'ExternalDNS' }],
  ]) {
    assert.ok(!sameAddresses([a, b, c], other), JSON.stringify(other));
  }
});

test('the wanted addresses, once written, are wanted no more', () => {
  const address = fc.record({
    type: fc.constantFrom<NodeAddress['type'][]>('InternalIP', 'ExternalIP', 'Hostname', 'InternalDNS', 'ExternalDNS'),
    address: fc.constantFrom('10.0.0.1', '10.0.0.2', 'fd00::1', 'host', ''),
  });
  const list = fc.array(address, { maxLength: 6 });
  fc.assert(
    fc.property(list, list, fc.option(fc.constantFrom('10.0.0.1', '10.0.0.2,fd00::1')), (now, cloud, provided) => {
      const at = (addresses: readonly StatusAddress[]): Parameters<typeof wantedAddresses>[0] => ({
        ...(provided !== null && withProvided(provided)),
        status: { addresses: [...addresses] },
      });
      const first = wantedAddresses(at(now), cloud);
      if (first.kind !== 'known') return;
      assert.ok(first.addresses.length > 0);
      const second = wantedAddresses(at(first.addresses), cloud);
      assert.ok(second.kind === 'known' && sameAddresses(first.addresses, second.addresses));
    }),
  );
});

test('an annotation that is longer than two addresses can be is refused by its name and the limit, and not quoted', () => {
  const annotations = { 'alpha.kubernetes.io/provided-node-ip': '-eyJ'.repeat(60_000) };
  for (const cloud of [[], [internal('10.0.0.1')]]) {
    assert.deepEqual(wantedAddresses({ metadata: { annotations } }, cloud), {
      kind: 'refused',
      problem: 'the annotation alpha.kubernetes.io/provided-node-ip has more than 255 characters',
    });
  }
});
