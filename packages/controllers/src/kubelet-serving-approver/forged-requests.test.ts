/** Requests that no kubelet of this machine would make, or that the cloud does not confirm: none is approved. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isOneDerValue } from './der.ts';
import { forgedRequests } from './forged-requests.suite.ts';
import { der, requestOf, ServingRig } from './serving-rig.suite.ts';

for (const { request, told, verdict, what, world } of forgedRequests) {
  test(`not approved, but ${verdict}: ${what}`, async () => {
    await using rig = new ServingRig();
    world?.(rig);
    await rig.start();
    await rig.ask('csr-1', request);
    await rig.settle(60_000);
    assert.equal(rig.verdict('csr-1'), verdict, rig.events.map(({ message }) => message).join('\n'));
    assert.equal(rig.writes.length, verdict === 'Denied' ? 1 : 0);
    if (told) {
      const { message, reason } = rig.events[0] ?? { message: 'no Event', reason: '' };
      assert.match(message, told);
      assert.equal(reason, verdict === 'Denied' ? 'ServingCertificateDenied' : 'ServingCertificatePending');
      assert.ok(message.length < 1_024);
    }
  });
}

test('a request in which any one byte is another is never read for other names than the machine has', async () => {
  const { readServingRequest } = await import('./serving-request.ts');
  const request = await requestOf('csr-1', { names: [['dns', 'node-2']] });
  const pem = Buffer.from(request.spec.request, 'base64').toString();
  const body = Buffer.from(pem.replaceAll(/-----.*-----|\s/gu, ''), 'base64');
  let read = 0;
  for (let at = 0; at < body.length; at++) {
    for (const bit of [1, 4, 32, 128]) {
      const changed = Buffer.from(body);
      changed[at] = (changed[at] ?? 0) ^ bit;
      const text = `-----BEGIN CERTIFICATE REQUEST-----\n${changed.toString('base64')}\n-----END CERTIFICATE REQUEST-----\n`;
      const asked = readServingRequest({
        ...request,
        spec: { ...request.spec, request: Buffer.from(text).toString('base64') },
      });
      if (asked.kind !== 'well-formed') continue;
      assert.ok(!asked.dnsNames.includes('node-1'));
      // One name, which is in the request as a name, byte by byte: what the signer would sign.
      assert.deepEqual([asked.dnsNames.length, asked.ips], [1, []]);
      assert.ok(changed.includes(der(0x82, Buffer.from(asked.dnsNames[0] ?? '', 'latin1'))), asked.dnsNames[0]);
      read += 1;
    }
  }
  assert.ok(read > 0, 'some are read: in those the key or the signature is another');
});

test('DER has one way to write a value', () => {
  const long = Buffer.alloc(300, 5);
  for (const bytes of [
    der(4, Buffer.alloc(0)),
    der(4, long.subarray(0, 127)),
    der(4, long.subarray(0, 128)),
    der(0x30, der(4, long)),
    der(0x30, Buffer.concat([der(2, Buffer.from([1])), der(0xa0, der(0x82, Buffer.from('a')))])),
    der(0x30, Buffer.alloc(0)),
  ]) {
    assert.equal(isOneDerValue(bytes), true, bytes.toString('hex'));
    assert.equal(isOneDerValue(Buffer.concat([bytes, Buffer.from([0])])), false, 'with a byte behind');
    assert.equal(isOneDerValue(bytes.subarray(0, -1)), false, 'without its last byte');
  }
  const wrong = [
    '',
    '04',
    '0480',
    '048100',
    '04817f' + '00'.repeat(127),
    '04820080' + '00'.repeat(128),
    '0483000001ff',
    '30800000',
    '3003040200',
    '30050402ff',
    '1f0100',
    '0000',
    '30020000',
  ];
  for (const hex of wrong) assert.equal(isOneDerValue(Buffer.from(hex, 'hex')), false, hex.slice(0, 12));
});
