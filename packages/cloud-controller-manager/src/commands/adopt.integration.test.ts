import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { startEmbeddedApiServer } from '@outrigger/testing';
import { testAdopt } from './adopt.suite.ts';

testAdopt('embedded API server', async (t, directory) => {
  const server = await startEmbeddedApiServer();
  t.after(() => server[Symbol.asyncDispose]());
  const file = path.join(directory, 'kubeconfig');
  await writeFile(file, server.kubeconfig().yaml);
  return file;
});
