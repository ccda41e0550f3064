/** kubectl, which is client-go, as the judge of how kubeconfig files are merged. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { accessSync, constants } from 'node:fs';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';
import * as fc from 'fast-check';
import { loadConfig } from './load-config.ts';

const run = promisify(execFile);

function findKubectl(): string | undefined {
  const directories = [process.env['KUBEBUILDER_ASSETS'] ?? '', ...(process.env['PATH'] ?? '').split(delimiter)];
  return directories
    .filter((directory) => directory !== '')
    .map((directory) => join(directory, 'kubectl'))
    .find((path) => {
      try {
        accessSync(path, constants.X_OK);
        return true;
      } catch {
        return false;
      }
    });
}

const kubectl = findKubectl();
const skip = kubectl || process.env['CI'] ? false : 'no kubectl: set KUBEBUILDER_ASSETS';

const name = fc.constantFrom('a', 'b', 'c');
const subset = fc.uniqueArray(name, { maxLength: 3 });
const file = fc.record({
  current: fc.option(name, { nil: undefined }),
  clusters: subset,
  users: subset,
  contexts: fc.uniqueArray(fc.record({ name, cluster: name, user: name }), {
    maxLength: 3,
    selector: (context) => context.name,
  }),
});

/** A kubeconfig whose every value says in which file it stands. */
function kubeconfig(index: number, content: typeof file extends fc.Arbitrary<infer T> ? T : never): string {
  return JSON.stringify({
    apiVersion: 'v1',
    kind: 'Config',
    ...(content.current !== undefined && { 'current-context': content.current }),
    clusters: content.clusters.map((cluster) => ({
      name: cluster,
      cluster: { server: `https://${cluster}-${index}:1`, 'certificate-authority': 'pki/ca.crt' },
    })),
    users: content.users.map((user) => ({ name: user, user: { token: `${user}.${index}` } })),
    contexts: content.contexts.map(({ name: context, cluster, user }) => ({
      name: context,
      context: { cluster, user, namespace: `${context}-${index}` },
    })),
  });
}

interface View {
  readonly clusters: readonly {
    readonly cluster: { readonly server: string; readonly 'certificate-authority': string };
  }[];
  readonly users: readonly { readonly user: { readonly token: string } }[];
  readonly contexts: readonly { readonly context: { readonly namespace: string } }[];
}

test('property: files are merged as client-go merges them', { skip, timeout: 300_000 }, async () => {
  assert.ok(kubectl, 'kubectl is required in CI: set KUBEBUILDER_ASSETS');
  const root = await mkdtemp(join(tmpdir(), 'outrigger-kubeconfig-'));
  try {
    await fc.assert(
      fc.asyncProperty(fc.array(file, { minLength: 1, maxLength: 4 }), async (contents) => {
        const paths: string[] = [];
        for (const [index, content] of contents.entries()) {
          await mkdir(join(root, String(index)), { recursive: true });
          paths.push(join(root, String(index), 'config'));
          await writeFile(join(root, String(index), 'config'), kubeconfig(index, content));
        }
        const env = { KUBECONFIG: paths.join(delimiter), HOME: root };
        const ours = await loadConfig({ env }).catch((error: unknown) => error);
        const theirs = await run(kubectl, ['config', 'view', '--minify', '--flatten=false', '--raw', '-o', 'json'], {
          env,
        })
          .then(({ stdout }) => JSON.parse(stdout) as View)
          .catch((error: unknown) => error as Error);
        const [cluster] = 'clusters' in theirs ? (theirs.clusters ?? []) : [];
        const [user] = 'users' in theirs ? (theirs.users ?? []) : [];
        // kubectl shows a context whose user or cluster does not exist; it cannot connect by it, and neither can we.
        if (!cluster || !user || !('contexts' in theirs)) {
          assert.ok(ours instanceof Error);
          return;
        }
        assert.ok(!(ours instanceof Error), String(ours));
        const config = ours as Awaited<ReturnType<typeof loadConfig>>;
        assert.equal(config.server, cluster.cluster.server);
        // kubectl shows paths as they were written; client-go resolves them when it connects, against their file.
        const index = /-(\d+):/.exec(cluster.cluster.server)?.[1] ?? '';
        const ca = config.tls?.ca;
        assert.equal(ca && 'file' in ca && ca.file, join(root, index, cluster.cluster['certificate-authority']));
        assert.equal(config.namespace, theirs.contexts[0]?.context.namespace);
        const credential = await config.credentials?.current();
        assert.equal(credential?.headers['authorization'], `Bearer ${user.user.token}`);
      }),
      { numRuns: 40 },
    );
  } finally {
    await rm(root, { recursive: true });
  }
});
