/** Writes `providers/aws/docs/annotations.md` anew. A test compares it with the table of annotations. */
import { writeFileSync } from 'node:fs';
import { annotationsPage } from './aws-pages/annotations-page.ts';

writeFileSync(new URL('../providers/aws/docs/annotations.md', import.meta.url), annotationsPage());
