/** Writes the files of `deploy/` anew. Tests compare the files with what is generated. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { deployManifest, pvLabelWebhookManifest } from '@outrigger/cloud-controller-manager';

const directory = new URL('../deploy/', import.meta.url);
mkdirSync(directory, { recursive: true });
writeFileSync(new URL('cloud-controller-manager.yml', directory), await deployManifest('DaemonSet'));
writeFileSync(new URL('cloud-controller-manager-deployment.yml', directory), await deployManifest('Deployment'));
writeFileSync(new URL('pv-label-webhook.yml', directory), await pvLabelWebhookManifest());
