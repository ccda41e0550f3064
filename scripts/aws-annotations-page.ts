/** Writes `providers/aws/docs/annotations.md` anew. A test compares it with the table of annotations. */
import { writeFileSync } from 'node:fs';
import { annotationsPage } from '../providers/aws/src/load-balancer/annotations/annotations-page.ts';

writeFileSync(new URL('../providers/aws/docs/annotations.md', import.meta.url), annotationsPage());
