import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { CallContext } from '@outrigger/cloud-provider';
import { openProvider } from '@outrigger/cloud-runtime';
import { silentLogger } from '@outrigger/kube';
import { FakeClock } from '@outrigger/testing';
import { ThrottleBuckets } from '../../fake/throttle-buckets.ts';
import { bucketOf, callLimits, type ServiceName } from './call-limits.ts';

/** As often as a crowd of Services asks for each, at once. */
const CROWD: Readonly<Record<string, number>> = {
  CreateListener: 40,
  CreateLoadBalancer: 12,
  CreateTargetGroup: 40,
  DescribeTargetHealth: 80,
  DescribeLoadBalancers: 60,
  RegisterTargets: 60,
};

for (const service of ['elb', 'elbv2'] as const) {
  test(`a crowd of requests to ${service} finds no bucket of AWS empty, and is answered nearly as soon as AWS allows it`, async () => {
    const clock = new FakeClock();
    const aws = new ThrottleBuckets(clock);
    await using opened = await openProvider(
      { name: 'aws', open: async () => ({}), close: async () => {} },
      {
        cluster: { id: 'c', name: 'c' },
        clock,
        logger: silentLogger,
        random: () => 0,
        budget: { buckets: callLimits },
      },
    );
    const { signal } = new AbortController();
    const call = opened.callContext({ signal, priority: 'normal' });
    const sent = new Map<string, number>();
    for (const [operation, count] of Object.entries(CROWD)) {
      for (let i = 0; i < count; i++) send(call, aws, { operation, sent, service }).catch(() => undefined);
    }
    // 292 requests: 36 at once, and 10 a second.
    for (let second = 0; second < 30; second++) await clock.advance(1_000);
    assert.deepEqual(Object.fromEntries(sent), CROWD);
    assert.equal(aws.refused, 0);
  });
}

function send(
  call: CallContext,
  aws: ThrottleBuckets,
  {
    operation,
    sent,
    service,
  }: { readonly operation: string; readonly sent: Map<string, number>; readonly service: ServiceName },
): Promise<void> {
  return call.call({ name: operation, bucket: bucketOf(service, operation) }, async () => {
    aws.take(service, operation, {});
    sent.set(operation, (sent.get(operation) ?? 0) + 1);
  });
}
