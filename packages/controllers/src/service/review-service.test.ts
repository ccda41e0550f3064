import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CloudError, loadBalancerOwnerAnnotation, type LoadBalancers } from '@outrigger/cloud-provider';
import type { Service } from '@outrigger/kube';
import { callContext } from '../load-balancer/memory-provider.suite.ts';
import { isReviewed, reviewService, type ServiceReviewer } from './review-service.ts';

const CALL = callContext(new AbortController().signal, 'critical');

function reviewer(validate: unknown, more: Partial<ServiceReviewer> = {}): ServiceReviewer {
  return {
    providerName: 'green',
    classes: ['green.example/lb'],
    isDefault: true,
    loadBalancers: { annotations: [], validate } as Pick<LoadBalancers, 'annotations' | 'validate'>,
    ...more,
  };
}

function serviceOf(spec: NonNullable<Service['spec']>, metadata: Service['metadata'] = {}): Service {
  return { metadata: { name: 'web', namespace: 'default', uid: 'u', ...metadata }, spec };
}

test('a provider is asked about what it is to serve, and about nothing else', () => {
  const asked = reviewer(async () => ({}));
  const wanted = serviceOf({ type: 'LoadBalancer' });
  assert.equal(isReviewed(wanted, asked), true);
  assert.equal(isReviewed(wanted, { ...asked, isDefault: false }), false);
  assert.equal(isReviewed(wanted, reviewer(undefined)), false);
  assert.equal(isReviewed(serviceOf({ type: 'ClusterIP' }), asked), false);
  const ofClass = (loadBalancerClass: string): Service => serviceOf({ type: 'LoadBalancer', loadBalancerClass });
  assert.equal(isReviewed(ofClass('green.example/lb'), { ...asked, isDefault: false }), true);
  assert.equal(isReviewed(ofClass('other.example/lb'), asked), false);
  const owned = { annotations: { [loadBalancerOwnerAnnotation]: 'blue' } };
  assert.equal(isReviewed(serviceOf({ type: 'LoadBalancer' }, owned), asked), false);
  const leaving = { deletionTimestamp: '2026-01-01T00:00:00Z' };
  assert.equal(isReviewed(serviceOf({ type: 'LoadBalancer' }, leaving), asked), false);
});

test('what the cloud says is passed on, with its code', async () => {
  const seen: string[] = [];
  const verdict = { refused: new CloudError('not-owned', 'the name is taken'), warnings: ['a quota'] };
  const answer = await reviewService(
    serviceOf({ type: 'LoadBalancer', ports: [{ port: 80 }] }),
    reviewer(async (service: { name: string; ports: readonly { port: number; protocol: string }[] }) => {
      seen.push(`${service.name} ${service.ports[0]?.port}/${service.ports[0]?.protocol}`);
      return verdict;
    }),
    CALL,
  );
  assert.deepEqual(answer, { refused: 'the name is taken (not-owned)', warnings: ['a quota'] });
  assert.deepEqual(seen, ['web 80/TCP']);
  assert.deepEqual(
    await reviewService(
      serviceOf({}),
      reviewer(async () => ({})),
      CALL,
    ),
    { warnings: [] },
  );
});

test('whatever cannot be said lets the Service through, with a warning that tells no more than a provider may', async () => {
  const could = 'the cloud green could not be asked about the Service: ';
  const broken = `${could}loadBalancers.validate of green returned an answer that breaks the contract (invalid)`;
  const unexpected = `${could}an unexpected error; the log has it`;
  for (const [validate, warning] of [
    [() => Promise.reject(new CloudError('unavailable', 'no answer')), `${could}no answer (unavailable)`],
    [() => Promise.reject(new Error('s3cret')), unexpected],
    [
      () => {
        throw new Error('s3cret');
      },
      unexpected,
    ],
    [() => Promise.resolve(undefined), broken],
    [() => Promise.resolve({ refused: 'no' }), broken],
    [() => Promise.resolve({ warnings: [7] }), broken],
  ] as const) {
    const { error, refused, warnings } = await reviewService(serviceOf({}), reviewer(validate), CALL);
    assert.deepEqual([refused, warnings, error instanceof Error], [undefined, [warning], true]);
  }
  const elsewhere = reviewer(() => Promise.reject(new CloudError('implemented-elsewhere', 'not ours')));
  assert.deepEqual(await reviewService(serviceOf({}), elsewhere, CALL), { warnings: [] });
});
