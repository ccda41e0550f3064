import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startEmbeddedApiServer } from '@outrigger/testing';
import { testSeveralProviders } from './several-providers.suite.ts';

testSeveralProviders('embedded API server', async (t) => {
  const server = await startEmbeddedApiServer();
  const directory = await mkdtemp(join(tmpdir(), 'outrigger-several-'));
  t.after(async () => {
    await server[Symbol.asyncDispose]();
    await rm(directory, { recursive: true });
  });
  const kubeconfig = join(directory, 'kubeconfig');
  await writeFile(kubeconfig, server.kubeconfig('certificate').yaml);
  return { kubeconfig, directory };
});
