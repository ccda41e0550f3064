import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Environment } from '../program/environment.ts';
import { testEnvironment } from '../program/test-environment.suite.ts';
import { defineCommand } from './command.ts';

test('an error that quotes what others wrote tells the terminal nothing, and is one line that ends', async () => {
  let text = '';
  const environment: Environment = {
    ...testEnvironment(import.meta.dirname, (more) => void (text += more)),
    builtInProviders: {},
  };
  const hostile = `the cloud says \u001B]0;owned\u0007\u009B2J\u202Eno\u2066\nHealthy${'!'.repeat(100_000)}`;
  const command = defineCommand({ name: 'a', summary: '', run: () => Promise.reject(new Error(hostile)) });
  assert.equal(await command.run([], environment), 1);
  assert.match(text, /^outrigger a: the cloud says +\]0;owned 2J no Healthy!+…\n$/u);
  assert.ok(text.length < 5_000, `${text.length} characters`);
});
