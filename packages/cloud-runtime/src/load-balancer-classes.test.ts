import { strict as assert } from 'node:assert';
import { test } from 'node:test';
import type { Capabilities, LoadBalancers } from '@outrigger/cloud-provider';
import { LoadBalancerClasses } from './load-balancer-classes.ts';

const serving = (...classes: string[]): Capabilities => ({ loadBalancers: { classes } as unknown as LoadBalancers });

test('a class that two providers serve is refused to the second; when the first leaves it, it is free', () => {
  const table = new LoadBalancerClasses();
  const [a, b] = [serving('x', 'y'), serving('y')];
  assert.equal(table.admit('a', a), a);
  assert.equal(table.admit('b', b).loadBalancers, undefined);
  assert.match(table.conflicts.join(), /the providers a and b both serve the load balancer class y/u);
  assert.equal(table.admit('a', a), a, 'its own class is no other');
  table.admit('a', serving('x'));
  assert.equal(table.admit('b', b), b);
  assert.deepEqual(table.conflicts, []);
});
