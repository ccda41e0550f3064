import assert from 'node:assert/strict';
import { test } from 'node:test';
import { LoadProcess } from './load-process.ts';

test('a load that cannot begin is told of, and leaves no process behind', async () => {
  const load = { kind: 'neutral', seed: 1, options: { kubeconfig: '/does/not/exist' } } as const;
  await assert.rejects(LoadProcess.start(load), /ended by itself: 1$/);
});
