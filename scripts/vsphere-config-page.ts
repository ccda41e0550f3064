/** Writes `providers/vsphere/docs/config.md` anew. A test compares it with the table of keys. */
import { writeFileSync } from 'node:fs';
import { configPage } from './vsphere-config-page-text.ts';

writeFileSync(new URL('../providers/vsphere/docs/config.md', import.meta.url), configPage());
