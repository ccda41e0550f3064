/** Writes `providers/openstack/docs/cloud-conf.md` anew. A test compares it with the table of keys. */
import { writeFileSync } from 'node:fs';
import { cloudConfPage } from './openstack-pages/cloud-conf-page.ts';

writeFileSync(new URL('../providers/openstack/docs/cloud-conf.md', import.meta.url), cloudConfPage());
