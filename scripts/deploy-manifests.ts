/** Writes the generated files of `deploy/` anew. Tests compare the files with what is generated. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { deployFiles } from '@outrigger/cloud-controller-manager';
import { imageCredentialsFiles } from '@outrigger/image-credentials';

const root = new URL('../deploy/', import.meta.url);
const manifest = readFileSync(new URL('../package.json', import.meta.url), 'utf8');
const { version } = JSON.parse(manifest) as { readonly version: string };
for (const [path, text] of [...(await deployFiles()), ...imageCredentialsFiles(version)]) {
  const file = new URL(path, root);
  mkdirSync(new URL('.', file), { recursive: true });
  writeFileSync(file, text);
}
