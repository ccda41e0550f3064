/** Writes the lists of public names in `docs/reference/api/` anew. A test compares them with the packages. */
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { apiList } from './api-lists/api-list.ts';
import { listDirectory, packageIndexes } from './api-lists/packages.ts';

rmSync(listDirectory, { recursive: true, force: true });
mkdirSync(listDirectory, { recursive: true });
for (const [name, index] of packageIndexes()) writeFileSync(path.join(listDirectory, name), apiList(index));
