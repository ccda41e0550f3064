/** Writes `docs/reference/helm-values.md` anew. A test compares it with the chart. */
import { writeFileSync } from 'node:fs';
import { helmValuesPage } from './helm-values-page-text.ts';

writeFileSync(new URL('../docs/reference/helm-values.md', import.meta.url), helmValuesPage());
