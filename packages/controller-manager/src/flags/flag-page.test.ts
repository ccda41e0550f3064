import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { FlagGroup } from './flag-group.ts';
import { renderFlagPage } from './flag-page.ts';
import { FlagSet } from './flag-set.ts';
import { string } from './flag-type.ts';

test('a placeholder in angle brackets is shown, not taken for a tag of HTML', () => {
  const group: FlagGroup<{ limits: string }> = {
    title: 'Cloud',
    flags: { limits: { type: string, default: '', usage: '<provider>=<qps>, or a|b' } },
  };
  assert.match(renderFlagPage(new FlagSet([group])), /&lt;provider>=&lt;qps>, or a\\\|b/u);
});
