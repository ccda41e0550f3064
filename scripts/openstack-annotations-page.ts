/** Writes `providers/openstack/docs/annotations.md` anew. A test compares it with the table of annotations. */
import { writeFileSync } from 'node:fs';
import { annotationsPage } from './openstack-pages/annotations-page.ts';

writeFileSync(new URL('../providers/openstack/docs/annotations.md', import.meta.url), annotationsPage());
