import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { LoadBalancerAction, LoadBalancerPart } from '@outrigger/cloud-provider';
import { assertTouchesDeclared } from './declared-touches.ts';

const network = { kind: 'network', id: 'n' };
const judged = (mayUse: boolean) => ({ others: [{ ...network, allowed: [], mayUse }] });
const action = (touches: LoadBalancerAction['touches']): LoadBalancerAction => ({
  kind: 'create',
  part: 'load-balancer',
  input: {},
  ...(touches && { touches }),
});

test('what an action uses is in its touches, under its own kind, and allowed', () => {
  assertTouchesDeclared(action([network]), [network], judged(true), []);
  assertTouchesDeclared(action(undefined), [], judged(false), []);
  const undeclared = /create load-balancer: undeclared touch of the network n/u;
  for (const [touches, mayUse] of [
    [undefined, true],
    [[{ ...network, kind: 'subnet' }], true],
    [[{ ...network, id: 'other' }], true],
    [[network], false],
  ] as const)
    assert.throws(() => assertTouchesDeclared(action(touches), [network], judged(mayUse), []), undeclared);
  assert.throws(() => assertTouchesDeclared(action([network]), [network], {}, []), undeclared);
});

test('a claim touches what it claims, as long as that is nobody’s', () => {
  const part = (owner: LoadBalancerPart['owner']): LoadBalancerPart => ({
    ...network,
    owner,
    state: 'ready',
    attributes: {},
  });
  const claim = { ...action(undefined), kind: 'claim', id: 'n' } as const;
  assertTouchesDeclared(claim, [network], {}, [part(undefined)]);
  const refused = /undeclared touch/u;
  assert.throws(() => assertTouchesDeclared(claim, [network], {}, [part({ clusterId: 'c', uid: 'u' })]), refused);
  assert.throws(() => assertTouchesDeclared(claim, [{ ...network, id: 'm' }], {}, [part(undefined)]), refused);
});
