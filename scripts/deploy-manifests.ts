/** Writes the generated files of `deploy/` anew. Tests compare the files with what is generated. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { deployFiles } from '@outrigger/cloud-controller-manager';

const root = new URL('../deploy/', import.meta.url);
for (const [path, text] of await deployFiles()) {
  const file = new URL(path, root);
  mkdirSync(new URL('.', file), { recursive: true });
  writeFileSync(file, text);
}
