/** `make generate`: writes anew what is generated from a running API server. The control-plane tests check that it is up to date. */
import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { startControlPlane } from '@outrigger/testing';

const tool = fileURLToPath(new URL('../tools/kube-types/', import.meta.url));

await using controlPlane = await startControlPlane({ auditLog: false });
execFileSync('npm', ['ci', '--no-audit', '--no-fund', '--loglevel=error'], { cwd: tool, stdio: 'inherit' });
execFileSync(process.execPath, ['generate.ts', '--kubeconfig', controlPlane.kubeconfig.path], {
  cwd: tool,
  stdio: 'inherit',
});
