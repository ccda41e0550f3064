/** Writes `deploy/cloud-controller-manager*.yml` anew. A test compares the files with what is generated. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { deployManifest } from '@outrigger/cloud-controller-manager';

const directory = new URL('../deploy/', import.meta.url);
mkdirSync(directory, { recursive: true });
writeFileSync(new URL('cloud-controller-manager.yml', directory), await deployManifest('DaemonSet'));
writeFileSync(new URL('cloud-controller-manager-deployment.yml', directory), await deployManifest('Deployment'));
