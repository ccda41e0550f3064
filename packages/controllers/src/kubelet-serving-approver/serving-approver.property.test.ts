/** Whatever a kubelet asks for and whatever its machine is called: nothing that the cloud does not give for the machine is approved. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import type { NodeAddress } from '@outrigger/cloud-provider';
import { planServingRequest } from './plan.ts';
import { readServingRequest } from './serving-request.ts';
import { machine, nodeOf, NOW, requestOf, type AskedName } from './serving-rig.suite.ts';

const dns = fc.constantFrom(
  'node-1',
  'node-2',
  'node',
  'NODE-1',
  'node-1.a',
  'a',
  'node-1.a.b',
  '*',
  '*.a',
  'x.node-1',
  '1',
);
const ip = fc.oneof(
  fc.constantFrom('10.0.0.1', '10.0.0.2', '1.0.0.10', 'fd00::1', 'fd00::2', '::1', '0.0.0.0'),
  fc.ipV4(),
);
const asked = fc.array(
  fc.oneof(
    dns.map((value): AskedName => ['dns', value]),
    ip.map((value): AskedName => ['ip', value]),
  ),
  { minLength: 1, maxLength: 5 },
);
const given = fc.array(
  fc.oneof(
    dns.filter((name) => !name.includes('*')).map((address): NodeAddress => ({ type: 'Hostname', address })),
    ip.map((address): NodeAddress => ({ type: 'InternalIP', address })),
  ),
  { maxLength: 6 },
);

test('no name or address that the cloud does not give for the machine is ever approved, and what it gives all of is', async () => {
  let approvals = 0;
  await fc.assert(
    fc.asyncProperty(asked, given, async (names, addresses) => {
      const csr = await requestOf('csr-1', { names });
      const plan = planServingRequest({
        csr,
        asked: readServingRequest(csr),
        node: nodeOf('node-1'),
        answer: { asOf: 0, result: machine('fake://node-1', addresses) },
        withProviderID: () => [],
        now: NOW,
        options: { providerName: 'fake', providerNames: ['fake'], isDefault: true },
      });
      const known = new Set(addresses.flatMap(({ address }) => [address, address.toLowerCase()]));
      const isNamed = [...known].some((name) => name === 'node-1' || name.startsWith('node-1.'));
      if (isNamed) known.add('node-1');
      const isCovered = isNamed && names.every((one) => 'tag' in one || known.has(one[1]));
      assert.equal(plan.kind === 'approve', isCovered, JSON.stringify(plan));
      if (plan.kind === 'approve') approvals += 1;
    }),
    { numRuns: 500, seed: 20_261_122 },
  );
  assert.ok(approvals > 5, `${approvals} approvals`);
});

test('an IPv4 address is read as the bytes that are signed', async () => {
  await fc.assert(
    fc.asyncProperty(fc.uint8Array({ minLength: 16, maxLength: 16 }), async (bytes) => {
      const csr = await requestOf('csr-1', { names: [{ tag: 0x87, bytes }] });
      const read = readServingRequest(csr);
      if (read.kind === 'malformed') return;
      assert.ok(read.kind === 'well-formed');
      const groups = (read.ips[0] ?? '').split('::').map((half) => half.split(':').filter((group) => group !== ''));
      const [head = [], tail] = groups;
      const missing = 8 - head.length - (tail?.length ?? 0);
      const all = [...head, ...Array<string>(tail ? missing : 0).fill('0'), ...(tail ?? [])];
      assert.equal(all.map((group) => group.padStart(4, '0')).join(''), Buffer.from(bytes).toString('hex'));
    }),
    { numRuns: 200, seed: 20_261_122 },
  );
});
