import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, test } from 'node:test';
import { Spec, Validation } from '@cyclonedx/cyclonedx-library';
import { missingLicences } from '../image/system-files.suite.ts';
import { writePluginArchive } from './plugin-archive.ts';

const folder = mkdtempSync(path.join(tmpdir(), 'outrigger-archive-'));
after(() => rmSync(folder, { recursive: true }));

test('the archive has a bill of materials, which is beside it too, and the licence of each package in it', async () => {
  const archive = await writePluginArchive(folder, '1.2.3');
  const read = (file: string): string => execFileSync('tar', ['-xzOf', archive, `./${file}`], { encoding: 'utf8' });
  const bill = read('sbom.cdx.json');
  assert.equal(readFileSync(path.join(folder, 'sbom.cdx.json'), 'utf8'), bill);
  assert.equal(await new Validation.JsonStrictValidator(Spec.Version.v1dot6).validate(bill), null);
  const { components, metadata } = JSON.parse(bill) as {
    readonly components: readonly { readonly purl: string; readonly hashes: readonly { readonly content: string }[] }[];
    readonly metadata: { readonly component: { readonly purl: string } };
  };
  assert.equal(metadata.component.purl, 'pkg:generic/kubectl-outrigger@1.2.3');
  for (const name of ['yaml', 'preact']) assert.ok(components.some(({ purl }) => purl.startsWith(`pkg:npm/${name}@`)));
  for (const { hashes, purl } of components)
    assert.match(`${purl} ${hashes[0]?.content}`, /^pkg:npm\S+ [0-9a-f]{128}$/u);
  assert.deepEqual(missingLicences(read('THIRD-PARTY-LICENSES.txt'), bill), []);
});
