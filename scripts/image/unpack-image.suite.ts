/** An OCI image in a tar file, unpacked as a container runtime does it. For tests. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { ImageSettings } from './image-settings.ts';

/** Makes `root` of the layers. Returns how the image says that it is started. */
export function unpackImage(file: string, root: string): Pick<ImageSettings, 'entrypoint' | 'env'> {
  const layout = mkdtempSync(join(dirname(file), 'layout-'));
  try {
    execFileSync('tar', ['-C', layout, '-xf', file]);
    const blob = ({ digest }: { digest: string }): string => join(layout, 'blobs', digest.replace(':', '/'));
    const json = (path: string): unknown => JSON.parse(readFileSync(path, 'utf8'));
    const { manifests } = json(join(layout, 'index.json')) as { manifests: [{ digest: string }] };
    const { config, layers } = json(blob(manifests[0])) as { config: { digest: string }; layers: { digest: string }[] };
    mkdirSync(root);
    for (const layer of layers) execFileSync('tar', ['-C', root, '-xzf', blob(layer)]);
    const { Entrypoint: entrypoint, Env } = (json(blob(config)) as { config: { Entrypoint: string[]; Env: string[] } })
      .config;
    const env = Object.fromEntries(Env.map((one) => [one.slice(0, one.indexOf('=')), one.slice(one.indexOf('=') + 1)]));
    return { entrypoint, env };
  } finally {
    rmSync(layout, { recursive: true });
  }
}
