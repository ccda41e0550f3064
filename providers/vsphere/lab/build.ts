/** The programs of the lab, each built once and kept in the cache: the simulator, and the provider to compare with and to migrate from. */
import { execFile } from 'node:child_process';
import { mkdir, rename } from 'node:fs/promises';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { silentLogger, type Logger } from '@outrigger/kube';
import { cachedGoProgram } from '@outrigger/testing';

const GOVMOMI = { module: 'github.com/vmware/govmomi', version: 'v0.55.0' };
const OFFICIAL = { module: 'k8s.io/cloud-provider-vsphere', version: 'v1.28.0' };
const LINKER_FLAGS = '-s -w';

const telling: Logger = { ...silentLogger, info: (message) => void process.stderr.write(`${message}\n`) };

/** The path of the simulator, which takes a minute and a half to build. Rejects with code `ENOENT` where there is no Go. */
export async function buildSimulator(): Promise<string> {
  const folder = fileURLToPath(new URL('simulator', import.meta.url));
  return cachedGoProgram(
    { name: 'vsphere-simulator', ...GOVMOMI, source: { folder }, linkerFlags: LINKER_FLAGS },
    {
      logger: telling,
      // It has a go.mod and a go.sum of its own, so that what is built is what is locked there.
      build: async ({ destination }) => {
        const beside = `${destination}.${process.pid}.partial`;
        await mkdir(dirname(destination), { recursive: true });
        const args = ['build', '-mod=readonly', '-trimpath', `-ldflags=${LINKER_FLAGS}`, '-o', beside, '.'];
        const env = { ...process.env, CGO_ENABLED: '0', GOFLAGS: '', GOTOOLCHAIN: 'local', GOWORK: 'off' };
        await promisify(execFile)('go', args, { cwd: folder, env });
        await rename(beside, destination);
      },
    },
  );
}

/** The path of the official cloud controller manager for vSphere, which takes four minutes to build. */
export async function buildOfficial(): Promise<string> {
  const source = `${OFFICIAL.module}/cmd/vsphere-cloud-controller-manager`;
  return cachedGoProgram(
    { name: 'vsphere-cloud-controller-manager', ...OFFICIAL, source, linkerFlags: LINKER_FLAGS },
    { logger: telling },
  );
}
