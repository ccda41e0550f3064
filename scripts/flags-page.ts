/** Writes `docs/reference/flags.md` anew. A test compares the page with the flags. */
import { writeFileSync } from 'node:fs';
import { flagsPage } from '@outrigger/cloud-controller-manager';

writeFileSync(new URL('../docs/reference/flags.md', import.meta.url), flagsPage());
