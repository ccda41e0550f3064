/** The image of the installer, with a small program in place of the executable. */
import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { Spec, Validation } from '@cyclonedx/cyclonedx-library';
import { shippedNode } from '../image/shipped-node.ts';
import { missingLicences, missingTerms, unlistedFiles } from '../image/system-files.suite.ts';
import { unpackImage } from '../image/unpack-image.suite.ts';
import { makeInstallerImage } from './make-image.ts';

const repository = fileURLToPath(new URL('../../', import.meta.url));
const folder = mkdtempSync(path.join(tmpdir(), 'outrigger-installer-'));
after(() => rmSync(folder, { recursive: true }));

test('its bill of materials has Node, the bundled packages and the libraries, by their hashes, and is in it', async () => {
  const node = shippedNode(repository);
  const inputs = ['node_modules/yaml/dist/index.js', 'packages/image-credentials/src/bin.ts'];
  const file = '/bin/true';
  const built = { file, bytes: statSync(file).size, inputs, node };
  const { bill, digest, licences } = makeInstallerImage(folder, built, '1.2.3');
  assert.equal(await new Validation.JsonStrictValidator(Spec.Version.v1dot6).validate(bill), null);
  const { components, metadata } = JSON.parse(bill) as {
    readonly components: readonly {
      readonly name: string;
      readonly hashes?: readonly [{ readonly content: string }];
    }[];
    readonly metadata: { readonly component: { readonly purl: string } };
  };
  assert.equal(metadata.component.purl, 'pkg:oci/image-credentials?tag=v1.2.3');
  const hashes = new Map(components.map(({ hashes, name }) => [name, hashes?.[0].content]));
  assert.equal(hashes.get('node'), node.sha256);
  assert.match(hashes.get('yaml') ?? '', /^[0-9a-f]{128}$/u);
  assert.ok([...hashes.keys()].some((name) => name === 'libc6' || name.endsWith('/libc.so.6')));

  const root = path.join(folder, 'unpacked');
  unpackImage(path.join(folder, 'image.tar'), root);
  assert.equal(readFileSync(path.join(root, 'usr/share/doc/outrigger/sbom.cdx.json'), 'utf8'), bill);
  assert.deepEqual(unlistedFiles(root, bill, ['usr/bin/outrigger-image-credentials', 'usr/share/doc/outrigger/']), []);
  assert.deepEqual(missingTerms(root, bill), []);
  assert.deepEqual(missingLicences(licences, bill), []);
  assert.equal(readFileSync(path.join(root, 'usr/share/doc/outrigger/THIRD-PARTY-LICENSES.txt'), 'utf8'), licences);
  assert.equal(makeInstallerImage(folder, built, '1.2.3').digest, digest);
});
