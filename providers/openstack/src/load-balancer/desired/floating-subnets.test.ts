import assert from 'node:assert/strict';
import { threadCpuUsage } from 'node:process';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { RE2JS } from 're2js';
import { matchFloatingSubnets, subnetNamePattern } from './floating-subnets.ts';

const subnet = { id: 's1', name: 'test-123', tags: ['alice', 'bob'] };
const matches = (wish: Parameters<typeof matchFloatingSubnets>[0]): boolean =>
  matchFloatingSubnets(wish, [subnet]).length === 1;

/** What CPO's `TestMatchSubnet` asks of a subnet `test-123` tagged alice and bob; each with `!` says the opposite. */
const VECTORS: readonly (readonly [wish: { name?: string; tags?: string }, expected: boolean])[] = [
  [{ name: 'test-*' }, true],
  [{ name: '~test-.*' }, true],
  [{ name: 'other*' }, false],
  [{ name: '~other.*' }, false],
  [{ name: '*' }, true],
  [{ name: '~.*' }, true],
  [{ name: 'test-*', tags: 'alice' }, true],
  [{ name: 'other*', tags: 'alice' }, false],
  [{ name: '*', tags: 'alice' }, true],
];
const TAG_VECTORS: readonly (readonly [tags: string, expected: boolean])[] = [
  ['alice', true],
  ['other', false],
  ['alice,bob', true],
  ['alice,peter', true],
  ['&alice,bob', true],
  ['&alice,peter', false],
  ['peter, bob', true],
];

test('names and tags match as in CPO’s own tables', () => {
  for (const [wish, expected] of VECTORS) {
    assert.equal(matches(wish), expected, JSON.stringify(wish));
    assert.equal(matches({ ...wish, name: `!${wish.name}` }), !expected, `not ${JSON.stringify(wish)}`);
  }
  for (const [tags, expected] of TAG_VECTORS) {
    assert.equal(matches({ tags }), expected, tags);
    assert.equal(matches({ tags: `!${tags}` }), !expected, `!${tags}`);
    assert.equal(matches({ name: 'test-*', tags }), expected, `test-* and ${tags}`);
  }
  assert.ok(
    !matches({ name: 'other*', tags: 'alice' }) && !matches({ name: 'test-*', tags: 'peter' }),
    'both have to match',
  );
});

test('an ID, and nothing, in the order given', () => {
  const subnets = ['b', 'a', 'c'].map((id) => ({ id, name: `pool-${id}`, tags: [] }));
  const ids = (wish: Parameters<typeof matchFloatingSubnets>[0]): string =>
    matchFloatingSubnets(wish, subnets)
      .map(({ id }) => id)
      .join('');
  assert.equal(ids({ subnetId: 'a' }), 'a');
  assert.equal(ids({ subnetId: 'x' }), '');
  assert.equal(ids({}), 'bac');
  assert.equal(ids({ name: '!pool-a' }), 'bc');
});

test('globs and regular expressions', () => {
  for (const [pattern, name, expected] of [
    ['public', 'public', true],
    ['public', 'public-1', false],
    ['public.1', 'public-1', false],
    ['pool-?', 'pool-1', true],
    ['pool-[12]', 'pool-2', true],
    ['pool-[12]', 'pool-3', false],
    ['{a,b}-net', 'b-net', true],
    ['{a,b}-net', 'c-net', false],
    ['a,b', 'a,b', true],
    ['a|b', 'a|b', true],
    ['(a+b)', '(a+b)', true],
    ['dc1/*', 'dc1/public', true],
    ['dc1*', 'dc1/public', false],
    ['~(?i)PUB.*', 'public', true],
    ['~pub', 'public', false],
    // The first match counts, and it is `a`.
    ['~a|ab', 'ab', false],
    ['~ab|a', 'ab', true],
    ['!~internal.*', 'public', true],
    ['!', 'public', true],
  ] as const) {
    assert.equal(subnetNamePattern(pattern)(name), expected, `${pattern} on ${name}`);
  }
});

test('a pattern that is none is refused', () => {
  for (const pattern of ['~(', '~[a', 'pool-[', '{a', '~(?=a)b']) {
    assert.throws(() => subnetNamePattern(pattern), { code: 'invalid' }, pattern);
  }
});

test('a pattern takes linear time, whoever wrote it', () => {
  // Backtracking tries 2^255 ways here: with it this test does not end.
  assert.equal(subnetNamePattern('~^(a|a)*$')(`${'a'.repeat(255)}!`), false);
});

test('a pattern that is too large is refused at once, and by its size alone', () => {
  for (const [pattern, what] of [
    ['a'.repeat(256), 'characters'],
    [`{${'*,'.repeat(120_000)}`, 'characters'],
    [`{${'*,'.repeat(120)}}`, 'alternatives'],
    [`~${'a|'.repeat(40)}b`, 'alternatives'],
    [`~${'(.*){1000}'.repeat(20)}`, 'repetitions'],
    ['~((x{20}){20}){2}', 'repetitions'],
    [`~${'(?:[^\\pL]x?y?z?){10,50}'.repeat(1)}abcdefghijklmnopqrstuvwxyz`, undefined],
    [`~(?:${'abcdefgh'.repeat(20)}){4}`, 'instructions'],
  ] as const) {
    const compile = (): unknown => subnetNamePattern(pattern);
    if (what === undefined) compile();
    else
      assert.throws(compile, { code: 'invalid', message: new RegExp(`^the pattern has more than \\d+ ${what}`) }, what);
  }
});

/** In milliseconds; the least of some, of patterns that differ, since one is compiled once. */
function costOf(pattern: string): number {
  let least = Number.POSITIVE_INFINITY;
  for (let n = 0; n < 5 && (n < 1 || least > 1); n++) {
    const before = threadCpuUsage();
    try {
      subnetNamePattern(`${pattern}${n}`)('a'.repeat(255));
    } catch (error) {
      assert.equal((error as { code?: string }).code, 'invalid', pattern);
    }
    const { system, user } = threadCpuUsage(before);
    least = Math.min(least, (user + system) / 1_000);
  }
  return least;
}

const filled = (before: string, unit: string, after: string): string =>
  before + unit.repeat((254 - before.length - after.length) / unit.length) + after;

/** What costs most to read, for its length. */
const UNITS = [
  'B-\u{1e900}',
  '\\x{0}-\\x{1e900}',
  '\\PL\\pL',
  '\\p{Lu}',
  '!-~',
  '!-\\777',
  '[[:ascii:]]',
  '[:alpha:]',
  '[:',
  '[',
  'a?',
  '(a)?',
  '.*',
];

/** By itself none takes 5; with coverage, beside other tests, up to 10. What is refused took 187 to 292. */
const LONG_MS = 40;

test('no pattern takes the processor for long, permitted or refused', () => {
  for (const flags of ['', '(?i)']) {
    for (const unit of UNITS) {
      for (const [before, after] of [
        ['', ''],
        ['[', ']'],
        ['[^', ']'],
        ['(?:', '){100}'],
        ['(?:', '){19}'],
        ['(?:[', ']){19}'],
      ] as const) {
        const pattern = filled(`~${flags}${before}`, unit, after);
        const ms = costOf(pattern);
        assert.ok(ms < LONG_MS, `${ms} ms for ${pattern}`);
      }
    }
  }
  const drawn = fc.tuple(
    fc.constantFrom('~', '~(?i)', '~(?s-i:', '~[', '~(?i)[', '~(?i)[^', '~(?:'),
    fc.array(fc.oneof(fc.constantFrom(...UNITS, '|', '(', ')', '[', ']', '-', '\\'), fc.string({ maxLength: 3 }))),
    fc.constantFrom('', ']', ')', '){100}', '){2,20}', ']{9}'),
  );
  fc.assert(
    fc.property(drawn, fc.nat(60), ([before, units, after], times) => {
      const pattern = (before + units.join('').repeat(times + 1)).slice(0, 240) + after;
      const ms = costOf(pattern);
      assert.ok(ms < LONG_MS, `${ms} ms`);
    }),
  );
});

test('without a flag for case a range may end anywhere, and with it characters may be any', () => {
  assert.equal(subnetNamePattern('~[ä-ö]ffentlich')('öffentlich'), true);
  assert.equal(subnetNamePattern('~(?i)Öffentlich-[a-z]+')('öffentlich-A'), true);
  assert.equal(subnetNamePattern('~(?i)[\\pL\\pN]+')('Süd1'), true);
  for (const name of ['Net-Öffentlich', 'net-öffentlich']) {
    for (const pattern of ['^net-öffentlich$', '[a-z]+-öffentlich', '[net\\-ö]+ffentlich', '^net-\\xD6ffentlich'])
      assert.equal(subnetNamePattern(`~(?i)${pattern}`)(name), true, pattern);
  }
  for (const pattern of [
    '[ä-ö]',
    '[^a-ö]',
    '[]a-ö]',
    '[\\]a-ö]',
    '[[:alpha:]a-ö]',
    '[[:xa-\\x{f6}]',
    '[\\\n!-ö]',
    '\\Q[\\E[]a-ö]',
    '[!-\\777]',
  ]) {
    const compile = (): unknown => subnetNamePattern(`~(?i)${pattern}`);
    assert.throws(compile, { code: 'invalid', message: /\(\?i\) and a range that ends/ }, pattern);
  }
});

test('a name that no subnet can have matches nothing, and the opposite of a pattern', () => {
  assert.equal(subnetNamePattern('*')('x'.repeat(256)), false);
  assert.equal(subnetNamePattern('!*')('x'.repeat(256)), true);
});

test('patterns are compiled once, and those used last remembered', ({ mock }) => {
  const compile = mock.method(RE2JS, 'compile').mock;
  const compiles = (name: string): number => {
    const before = compile.callCount();
    assert.ok(subnetNamePattern(name)(name));
    return compile.callCount() - before;
  };
  assert.deepEqual([compiles('in-use'), compiles('in-use'), compiles('in-use')], [1, 0, 0]);
  for (let n = 0; n < 1_000; n++) assert.deepEqual([compiles(`pool-${n}`), compiles('in-use')], [1, 0]);
  assert.deepEqual([compiles('pool-999'), compiles('pool-1')], [0, 1]);
  const before = compile.callCount();
  for (let n = 0; n < 3; n++) {
    assert.throws(() => subnetNamePattern(`~(?:${'abcdefgh'.repeat(20)}){5}`), {
      code: 'invalid',
      message: /instructions/,
    });
    assert.throws(() => subnetNamePattern('~('), { code: 'invalid' });
  }
  assert.equal(compile.callCount() - before, 2, 'refusals are remembered too');
});
