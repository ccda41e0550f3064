import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { flagNameOf, type Flag } from '@outrigger/controller-manager';
import { featureGates } from './feature-gates.ts';
import { programFlags } from './program-options.ts';
import { upstreamFlags } from './upstream-flags.suite.ts';
import { upstreamGates } from './upstream-gates.suite.ts';

/** What upstream's types are called here. */
const TYPES: Readonly<Record<string, string>> = { int32: 'int', float32: 'float', bool: '' };
/** Flags whose default is another one here; docs/reference/differences says why. */
const OTHER_DEFAULTS = new Set([
  'concurrent-node-syncs',
  'concurrent-service-syncs',
  'kube-api-burst',
  'kube-api-content-type',
  'kube-api-qps',
  'route-reconciliation-period',
]);

const pages = new URL('../../../../docs/reference/differences/', import.meta.url);
const differences = readdirSync(pages)
  .map((page) => readFileSync(new URL(page, pages), 'utf8'))
  .join('\n');
const flags = new Map<string, Flag<unknown>>(
  programFlags.groups.flatMap(({ flags }) => Object.entries(flags).map(([key, flag]) => [flagNameOf(key), flag])),
);

for (const [name, type, shown] of upstreamFlags) {
  test(`--${name} has upstream's type and default, or the page of differences says why not`, () => {
    const flag = flags.get(name);
    assert.ok(flag, 'is not known');
    assert.equal(flag.type.word.replace('port', 'int'), TYPES[type] ?? type);
    assert.ok(!flag.hidden, 'what upstream has is shown in --help');
    if (OTHER_DEFAULTS.has(name)) {
      assert.notEqual(flag.type.format(flag.default), shown);
      assert.ok(differences.includes(`--${name}`), 'is not argued in docs/reference/differences');
    } else if (name === 'controllers') {
      // Empty in upstream's help, and `*` when it runs: see its /configz.
      assert.deepEqual(flag.default, ['*']);
    } else {
      assert.equal(sorted(flag.type.format(flag.default)), sorted(shown.replace(/^\[\]$/u, '')));
    }
  });
}

test('upstream and this program have the same gates, with the same stages and defaults', () => {
  const ours = Object.entries(featureGates).map(([name, { default: enabled, stage }]) => [name, stage, enabled]);
  const theirs = upstreamGates.filter(([name]) => name !== 'AllAlpha' && name !== 'AllBeta');
  assert.deepEqual(ours, theirs);
});

/** The order of a list in a default means nothing. */
function sorted(text: string): string {
  const list = /^\[(.+)\]$/u.exec(text)?.[1];
  return list === undefined ? text : list.split(',').toSorted().join(',');
}
