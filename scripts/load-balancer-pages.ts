/** Writes `docs/reference/load-balancer-features.md` and `deploy/admission-policy.yml` anew. A test compares both with what is declared. */
import { writeFileSync } from 'node:fs';
import { admissionPolicy, featuresPage } from './load-balancer-pages/generate.ts';

writeFileSync(new URL('../docs/reference/load-balancer-features.md', import.meta.url), await featuresPage());
writeFileSync(new URL('../deploy/admission-policy.yml', import.meta.url), await admissionPolicy());
