import assert from 'node:assert/strict';
import { test } from 'node:test';
import { renderSteps } from './render-steps.ts';

test('what others have written neither tells the terminal anything nor looks like another line', () => {
  const hostile = 'a\u009b2J\u001b[2J\nAll is ok.';
  const check = { state: 'missing', text: hostile, objects: [hostile], todo: hostile } as const;
  const out = renderSteps([{ step: 'plans', title: 'Plans', state: 'missing', checks: [check] }]);
  assert.doesNotMatch(out.replaceAll('\n', ''), /\p{Cc}/u);
  assert.doesNotMatch(out, /^All is ok/mu);
});
