/** Helm: from PATH or the cache, or built from its Go module. */
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { silentLogger } from '@outrigger/kube';
import { cachedGoProgram } from '@outrigger/testing';

const VERSION = 'v4.3.1';
const MODULE = 'helm.sh/helm/v4';

/** Its path. The first time takes minutes, of which standard error is told. */
export async function findHelm(): Promise<string> {
  for (const folder of (process.env['PATH'] ?? '').split(delimiter)) {
    const path = join(folder, 'helm');
    if (existsSync(path) && versionOf(path).startsWith('v4.')) return path;
  }
  return cachedGoProgram(
    {
      name: 'helm',
      module: MODULE,
      version: VERSION,
      source: `${MODULE}/cmd/helm`,
      linkerFlags: `-s -w -X ${MODULE}/internal/version.version=${VERSION}`,
    },
    { logger: { ...silentLogger, info: (message) => console.error(message) } },
  );
}

function versionOf(helm: string): string {
  return spawnSync(helm, ['version', '--template={{.Version}}'], { encoding: 'utf8', timeout: 60_000 }).stdout;
}
