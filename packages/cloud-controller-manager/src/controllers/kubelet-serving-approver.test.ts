import assert from 'node:assert/strict';
import { test } from 'node:test';
import { noMetrics, resources, silentLogger, type CertificateSigningRequest, type Resource } from '@outrigger/kube';
import { FakeClock } from '@outrigger/testing';
import type { LeaderContext } from './cloud-controller.ts';
import { buildKubeletServingApprover } from './kubelet-serving-approver.ts';

test('what a kubelet writes into its requests beside them is not kept, and few are read at a time', () => {
  let kept: unknown;
  let pageSize: number | undefined;
  const open = (
    { plural }: Resource,
    options?: { readonly transform?: unknown; readonly pageSize?: number },
  ): object => {
    if (plural === resources.certificateSigningRequests.plural) ({ transform: kept, pageSize } = options ?? {});
    return {};
  };
  buildKubeletServingApprover({
    stores: { open },
    eventsOf: () => ({ record: () => {} }),
    journal: { of: () => ({}) },
    logger: silentLogger,
    metrics: noMetrics,
    clock: new FakeClock(),
  } as unknown as LeaderContext);
  const note = 'x'.repeat(100_000);
  const csr: CertificateSigningRequest = {
    metadata: { name: 'csr-1', annotations: { note } },
    spec: { signerName: 'kubernetes.io/kubelet-serving', username: 'system:node:n1', request: note },
  };
  assert.ok(typeof kept === 'function', 'all of them is kept');
  assert.ok(JSON.stringify(kept(csr)).length < 10_000);
  // The API server takes 1.5 MB in each.
  assert.ok(pageSize !== undefined && pageSize * 1.5 <= 20, `pages of ${pageSize}`);
});
