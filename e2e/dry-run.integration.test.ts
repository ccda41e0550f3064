import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startEmbeddedApiServer } from '@outrigger/testing';
import { dryRunSuite } from './dry-run.suite.ts';

dryRunSuite('embedded API server', async () => {
  const server = await startEmbeddedApiServer();
  const directory = await mkdtemp(join(tmpdir(), 'outrigger-dry-run-'));
  const kubeconfig = join(directory, 'kubeconfig');
  await writeFile(kubeconfig, server.kubeconfig('certificate').yaml);
  return {
    kubeconfig,
    hasApproval: false,
    request: (csr) => {
      server.store.put({
        ...csr,
        metadata: { name: 'csr-1', uid: 'uid-csr-1', creationTimestamp: new Date().toISOString() },
      });
      return Promise.resolve();
    },
    writes: () =>
      Promise.resolve(
        server.requests
          .filter(({ method, userAgent }) => method !== 'GET' && userAgent !== 'test')
          .map(({ method, path }) => `${method} ${path}`),
      ),
    [Symbol.asyncDispose]: async () => {
      await server[Symbol.asyncDispose]();
      await rm(directory, { recursive: true });
    },
  };
});
