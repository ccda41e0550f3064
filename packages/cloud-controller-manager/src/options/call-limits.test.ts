import assert from 'node:assert/strict';
import { test } from 'node:test';
import { callLimits, checkCallLimits, limitsOf } from './call-limits.ts';

test('the limit of a bucket goes before that of its provider, and the last one of a name holds', () => {
  const limits = callLimits.parse('green=10,green/volumes=.5:3', callLimits.parse('green=1,blue=7:7'));
  assert.equal(callLimits.format(limits), '[green=1,blue=7:7,green=10,green/volumes=.5:3]');
  assert.deepEqual(limitsOf(limits, { name: 'green' }, 'default'), { qps: 10 });
  assert.deepEqual(limitsOf(limits, { name: 'green' }, 'volumes'), { qps: 0.5, burst: 3 });
  assert.deepEqual(limitsOf(limits, { name: 'blue' }, 'volumes'), { qps: 7, burst: 7 });
  assert.deepEqual(limitsOf(limits, { name: 'red' }, 'default'), {});
  const known = { volumes: { qps: 3, burst: 30 }, default: { qps: 4, burst: 40 } };
  assert.deepEqual(limitsOf(limits, { name: 'red', callLimits: known }, 'volumes'), { qps: 3, burst: 30 });
  assert.deepEqual(limitsOf(limits, { name: 'red', callLimits: known }, 'servers'), {});
  assert.deepEqual(limitsOf(limits, { name: 'green', callLimits: known }, 'default'), { qps: 10 });
});

test('what is no limit is refused', () => {
  for (const text of [
    '10',
    'green',
    'green=',
    'green=-1',
    'green=1:0',
    'green=1:1.5',
    'green/=1',
    'Green=1',
    'green=1e3',
  ]) {
    assert.throws(
      () => callLimits.parse(text),
      /is not provider=qps, provider=qps:burst or provider\/bucket=qps:burst/u,
    );
  }
  assert.throws(() => callLimits.parse('green=0'), /qps must be above 0/u);
});

test('a bucket that its provider has not is refused; where it is not known which there are, each is taken', () => {
  const check = (text: string): void =>
    checkCallLimits({ cloud: { cloudCallLimits: callLimits.parse(text) } }, [
      { name: 'green', buckets: ['volumes', 'servers'] },
      { name: 'blue' },
    ]);
  check('green=1,green/default=1,green/servers=2,blue/whatever=1');
  assert.throws(
    () => check('green/server=2'),
    /^FlagError: --cloud-call-limits=green\/server=2: green has no bucket server; there are default, volumes, servers$/u,
  );
});
