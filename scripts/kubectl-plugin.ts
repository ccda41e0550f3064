/**
 * Writes the archive of the plugin `kubectl outrigger` into `dist/kubectl`, and with RELEASE_URL=https://…, where the archive is to be
 * downloaded from, the manifest for Krew beside it. `make release` runs this.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { krewManifest, writePluginArchive } from './kubectl-plugin/plugin-archive.ts';

const repository = fileURLToPath(new URL('../', import.meta.url));
const output = path.join(repository, 'dist/kubectl');
const read = (file: string): string => readFileSync(path.join(repository, file), 'utf8');
const { version } = JSON.parse(read('package.json')) as { version: string };
const { RELEASE_URL: releaseUrl = '' } = process.env;

const archive = await writePluginArchive(output, version);
console.log(path.relative(process.cwd(), archive));
if (releaseUrl === '') {
  console.log('no manifest for Krew: give RELEASE_URL=https://…, where the archive is to be downloaded from');
} else {
  const manifest = path.join(output, 'outrigger.yaml');
  const template = read('deploy/krew/outrigger.yaml');
  writeFileSync(manifest, krewManifest({ template, releaseUrl, archive: readFileSync(archive) }));
  console.log(path.relative(process.cwd(), manifest));
}
