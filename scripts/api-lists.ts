/** Writes the lists of public names in `docs/reference/api/` anew. A test compares them with the packages. */
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { apiList } from './api-lists/api-list.ts';
import { listDirectory, packageIndexes } from './api-lists/packages.ts';

// Before anything is removed: what cannot be listed must not take the other lists away.
const lists = [...packageIndexes()].map(([name, index]) => [name, apiList(index)] as const);
rmSync(listDirectory, { recursive: true, force: true });
mkdirSync(listDirectory, { recursive: true });
for (const [name, list] of lists) writeFileSync(path.join(listDirectory, name), list);
