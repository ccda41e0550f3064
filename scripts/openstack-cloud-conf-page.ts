/** Writes `providers/openstack/docs/cloud-conf.md` anew. A test compares it with the table of keys. */
import { writeFileSync } from 'node:fs';
import { cloudConfPage } from '../providers/openstack/src/config/cloud-conf-page.ts';

writeFileSync(new URL('../providers/openstack/docs/cloud-conf.md', import.meta.url), cloudConfPage());
