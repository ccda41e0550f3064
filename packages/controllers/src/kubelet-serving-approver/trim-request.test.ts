import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { CertificateSigningRequest } from '@outrigger/kube';
import { readServingRequest } from './serving-request.ts';
import { requestOf, ServingRig } from './serving-rig.suite.ts';
import { trimServingRequest } from './trim-request.ts';

const LONG = 'x'.repeat(1_000_000);
/** Each of them as long as the API server takes it. */
const METADATA = {
  labels: Object.fromEntries(Array.from({ length: 5_000 }, (_, i) => [`label-${i}`, 'x'.repeat(63)])),
  annotations: { note: LONG },
  finalizers: Array.from({ length: 5_000 }, (_, i) => `example.com/${i}`),
};

async function large(
  request: string,
  status?: CertificateSigningRequest['status'],
): Promise<CertificateSigningRequest> {
  const csr = await requestOf('csr-1', status && { status });
  return { ...csr, metadata: { ...csr.metadata, ...METADATA }, spec: { ...csr.spec, request } };
}

test('of a request of megabytes a few kilobytes are kept, and it is refused as too long', async () => {
  const kept = trimServingRequest(await large(LONG));
  assert.ok(JSON.stringify(kept).length < 10_000, `${JSON.stringify(kept).length}`);
  const asked = readServingRequest(kept);
  assert.ok(asked.kind === 'malformed');
  assert.match(asked.problem, /longer than the request of a kubelet/u);
});

test('a request of a kubelet is read as before', async () => {
  const csr = await requestOf('csr-1');
  const { metadata, spec } = trimServingRequest(csr);
  assert.deepEqual({ ...metadata, ...csr.metadata }, metadata);
  assert.deepEqual(spec.request, csr.spec.request);
  assert.deepEqual(readServingRequest(trimServingRequest(csr)), readServingRequest(csr));
});

test('of one that is decided, who made it and the decision are kept', async () => {
  const { request } = (await requestOf('csr-1')).spec;
  const conditions = [{ type: 'Denied', status: 'True' }];
  const kept = trimServingRequest(await large(request, { conditions, certificate: 'AAAA' }));
  assert.ok(JSON.stringify(kept).length < 1_000, `${JSON.stringify(kept).length}`);
  assert.deepEqual(kept.status, { conditions, certificate: 'AAAA' });
  assert.equal(kept.spec.username, 'system:node:node-1');
});

test('a decision changes nothing of what is not kept', async () => {
  await using rig = new ServingRig();
  await rig.start();
  const csr = await requestOf('csr-1');
  rig.put({ ...csr, metadata: { ...csr.metadata, labels: { team: 'a' }, annotations: { note: 'b' } } });
  await rig.settle();
  const { metadata, spec } = rig.get('csr-1');
  assert.equal(rig.verdict('csr-1'), 'Approved');
  assert.deepEqual([metadata?.labels, metadata?.annotations, spec], [{ team: 'a' }, { note: 'b' }, csr.spec]);
});
