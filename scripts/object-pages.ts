/** Writes `docs/reference/events.md` and `docs/reference/annotations.md` anew. Tests compare them with the sources. */
import { writeFileSync } from 'node:fs';
import { eventsPage, objectsPage } from './object-pages/pages.ts';

writeFileSync(new URL('../docs/reference/events.md', import.meta.url), eventsPage());
writeFileSync(new URL('../docs/reference/annotations.md', import.meta.url), objectsPage());
