/** The packages that are published: every folder of `packages` and `providers` that has a manifest. There is no other list. */
import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Manifest } from './published-manifest.ts';

export const repository: string = fileURLToPath(new URL('../../', import.meta.url));

export interface WorkspacePackage {
  /** Relative to the repository: `packages/kube`. */
  readonly folder: string;
  readonly manifest: Manifest;
}

/** `repository` in the package.json of the whole, as a URL without `.git`; `undefined` while it is published nowhere. */
export function repositoryUrl(): string | undefined {
  const { repository: said } = JSON.parse(readFileSync(path.join(repository, 'package.json'), 'utf8')) as {
    readonly repository?: string;
  };
  return said?.replace(/\.git$/u, '');
}

/** In the order of their folders. */
export function workspacePackages(): readonly WorkspacePackage[] {
  const files = globSync('{packages,providers}/*/package.json', { cwd: repository }).toSorted();
  return files.map((file) => ({
    folder: path.dirname(file),
    manifest: JSON.parse(readFileSync(path.join(repository, file), 'utf8')) as Manifest,
  }));
}
