import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readProgramOptions } from '../options/program-options.ts';
import { chosenWebhooks } from './webhooks.ts';

const GATE = '--feature-gates=CloudControllerManagerWebhook=true';

function namesOf(...args: readonly string[]): readonly string[] {
  return chosenWebhooks(readProgramOptions(['--cloud-provider=memory', ...args])).map(({ name }) => name);
}

test('webhooks are served when they are chosen and the gate is on', () => {
  assert.deepEqual(namesOf(GATE, '--webhooks=*'), ['pvlabel', 'service']);
  assert.deepEqual(namesOf(GATE, '--webhooks=pvlabel'), ['pvlabel']);
  assert.deepEqual(namesOf(GATE, '--webhooks=*,-pvlabel'), ['service']);
  assert.deepEqual(namesOf(GATE), []);
  assert.deepEqual(namesOf('--webhooks=*'), []);
  assert.deepEqual(namesOf(GATE, '--webhooks=*', '--webhook-secure-port=0'), []);
  assert.deepEqual(namesOf(GATE, '--webhooks=*', '--dry-run'), []);
});

test('a webhook that there is not is refused, whether the gate is on or not', () => {
  const message = /^--webhooks: no webhook "pvlable" \(did you mean "pvlabel"\?\)/u;
  assert.throws(() => namesOf('--webhooks=pvlable'), { message });
});
