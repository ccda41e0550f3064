import assert from 'node:assert/strict';
import { test } from 'node:test';
import { noMetrics, type Metrics, type Node } from '@outrigger/kube';
import { watchUninitialized } from './node-metrics.ts';

const AT = Date.parse('2026-01-01T01:00:00Z');
const taint = { key: 'node.cloudprovider.kubernetes.io/uninitialized', value: 'true', effect: 'NoSchedule' } as const;

function node(name: string, creationTimestamp: string | undefined, taints: (typeof taint)[]): Node {
  return { metadata: { name, ...(creationTimestamp && { creationTimestamp }) }, spec: { taints } };
}

test('the age of the oldest node that waits is read at each scrape, and is 0 when none does', () => {
  let collect = (): void => assert.fail('nothing is collected');
  const seen: number[] = [];
  const metrics: Metrics = {
    ...noMetrics,
    gauge: () => ({ set: (value) => seen.push(value) }),
    onCollect: (given) => void (collect = given),
  };
  let nodes = [
    node('a', '2026-01-01T00:00:00Z', []),
    node('b', '2026-01-01T00:58:00Z', [taint]),
    node('c', '2026-01-01T00:50:00Z', [taint]),
    node('d', undefined, [taint]),
  ];
  watchUninitialized(
    metrics,
    () => nodes,
    () => AT,
    new AbortController().signal,
  );
  collect();
  nodes = [node('c', '2026-01-01T00:50:00Z', [])];
  collect();
  nodes = [node('from-the-future', '2026-01-01T02:00:00Z', [taint])];
  collect();
  assert.deepEqual(seen, [600, 0, 0]);
});
