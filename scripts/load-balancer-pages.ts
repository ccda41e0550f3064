/** Writes `docs/reference/load-balancer-features.md`, `deploy/admission-policy.yml` and `deploy/service-webhook.yml` anew. A test compares them with what is declared. */
import { writeFileSync } from 'node:fs';
import { admissionPolicy, featuresPage, serviceWebhook } from './load-balancer-pages/generate.ts';

writeFileSync(new URL('../docs/reference/load-balancer-features.md', import.meta.url), await featuresPage());
writeFileSync(new URL('../deploy/admission-policy.yml', import.meta.url), await admissionPolicy());
writeFileSync(new URL('../deploy/service-webhook.yml', import.meta.url), await serviceWebhook());
