/** `make generate`: writes anew what is generated from a running API server and from its Go types. The control-plane tests check that it is up to date. */
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { startControlPlane } from '@outrigger/testing';

const tool = fileURLToPath(new URL('../tools/kube-types/', import.meta.url));

await using controlPlane = await startControlPlane({ auditLog: false });
execFileSync('npm', ['ci', '--no-audit', '--no-fund', '--loglevel=error'], { cwd: tool, stdio: 'inherit' });
execFileSync(process.execPath, ['generate.ts', '--kubeconfig', controlPlane.kubeconfig.path], {
  cwd: tool,
  stdio: 'inherit',
});

const protobuf = fileURLToPath(new URL('../packages/kube/src/protobuf/', import.meta.url));
for (const [what, file] of [
  ['tables', 'generated/messages.ts'],
  ['vectors', 'vectors.json'],
] as const) {
  const cwd = fileURLToPath(new URL('../tools/kube-protobuf/', import.meta.url));
  writeFileSync(protobuf + file, execFileSync('go', ['run', '.', what], { cwd, maxBuffer: 1 << 24 }));
}
