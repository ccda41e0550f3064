import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { ControlPlaneError, DEFAULT_KUBERNETES, findBinaries, parseKubernetesMinor } from '@outrigger/testing';
import { parseAllDocuments } from 'yaml';

const DEPLOY = fileURLToPath(new URL('../deploy/', import.meta.url));

interface Named {
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly namespace?: string };
}

function objectsOf(text: string): Readonly<Record<string, unknown>> {
  const objects = parseAllDocuments(text).map((document) => document.toJS() as Named);
  return Object.fromEntries(
    objects.map((object) => [`${object.kind} ${object.metadata.namespace ?? ''}/${object.metadata.name}`, object]),
  );
}

for (const [folder, file] of [
  ['base', 'cloud-controller-manager.yml'],
  ['deployment', 'cloud-controller-manager-deployment.yml'],
] as const) {
  test(`kubectl kustomize deploy/kustomize/${folder} gives the objects of deploy/${file}`, async (t) => {
    let kubectl: string;
    try {
      const found = await findBinaries(parseKubernetesMinor(process.env['KUBERNETES'] || DEFAULT_KUBERNETES), [
        'kubectl',
      ]);
      kubectl = found.kubectl.path;
    } catch (error) {
      if (!(error instanceof ControlPlaneError) || process.env['CI'] === 'true') throw error;
      t.skip(error.message.split('\n')[0]);
      return;
    }
    const built = execFileSync(kubectl, ['kustomize', `${DEPLOY}kustomize/${folder}`], { encoding: 'utf8' });
    assert.deepEqual(objectsOf(built), objectsOf(readFileSync(`${DEPLOY}${file}`, 'utf8')));
  });
}
