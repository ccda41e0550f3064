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

test('what a Service asks for and may not is refused before the cloud is asked, in the words of its Event', async () => {
  const read = [{ name: 'loadbalancer.openstack.org/floating-subnet' }];
  const asked: unknown[] = [];
  const validate = async (service: unknown): Promise<object> => {
    asked.push(service);
    return {};
  };
  const loadBalancers = { annotations: read, validate } as unknown as ServiceReviewer['loadBalancers'];
  const of = reviewer(undefined, { loadBalancers });
  const review = async (now: Service, before?: Service): Promise<string> => {
    const { error, refused, warnings } = await reviewService(now, of, CALL, before);
    assert.equal(error, undefined);
    return refused === undefined ? warnings.join() : `refused: ${refused}`;
  };
  const spec: NonNullable<Service['spec']> = { type: 'LoadBalancer', ports: [{ port: 80 }] };
  const annotated = (value: string, name = 'loadbalancer.openstack.org/floating-subnet'): Service['metadata'] => ({
    annotations: { [name]: value },
  });
  const why =
    'annotation loadbalancer.openstack.org/floating-subnet is too long: shorten it to at most 255 characters (invalid)';
  const late = `the Service is stored, but its controller refuses it: ${why}`;
  const glob = serviceOf(spec, annotated(`{${'*,'.repeat(3_000_000)}}`));
  assert.equal(await review(glob), `refused: ${why}`);
  assert.equal(await review(glob, serviceOf(spec)), `refused: ${why}`);
  assert.equal(await review(glob, serviceOf(spec, annotated('x'.repeat(256)))), `refused: ${why}`);

  // What was there before holds up no other change, nor a second one that comes now.
  const more = { ...glob, spec: { ...spec, ports: [{ port: 81 }] } };
  assert.equal(await review(more, glob), late);
  assert.equal(
    await review({ ...more, spec: { ...more.spec, loadBalancerIP: '1'.repeat(256) } }, glob),
    'refused: spec.loadBalancerIP is too long: shorten it to at most 255 characters (invalid)',
  );
  assert.equal(await review({ ...glob, spec }, { ...glob, spec: { type: 'ClusterIP' } }), `refused: ${why}`);
  const blue = { annotations: { ...glob.metadata?.annotations, [loadBalancerOwnerAnnotation]: 'blue' } };
  assert.equal(await review(glob, { ...glob, metadata: blue }), late, 'another program lets it go');

  const ports = Array.from({ length: 1_001 }, (_, i) => ({ port: i + 1 }));
  const many = serviceOf({ ...spec, ports });
  assert.match(await review(many, serviceOf(spec)), /^refused: spec\.ports has more than 1000 ports/u);
  assert.match(
    await review(serviceOf({ ...spec, ports: structuredClone(ports) }, { labels: {} }), many),
    /^the Service/u,
  );

  const ranges = 'service.beta.kubernetes.io/load-balancer-source-ranges';
  assert.match(
    await review(serviceOf(spec, annotated('home', ranges)), serviceOf(spec)),
    /^refused: annotation .*home/u,
  );
  const wrong = { ...spec, loadBalancerSourceRanges: ['home'] };
  assert.match(await review(serviceOf(wrong), serviceOf(spec)), /^refused: spec\.loadBalancerSourceRanges/u);
  assert.match(await review(serviceOf(wrong, annotated('away', ranges)), serviceOf(wrong)), /^the Service is stored/u);
  assert.deepEqual(asked, []);
  assert.equal(await review(serviceOf(spec, annotated('x'.repeat(255)))), '');
  assert.equal(asked.length, 1);
});
