/** The image that the installer runs: the executable, the libraries that it is loaded with, the terms of both, and nothing else. */
import { chmodSync, copyFileSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { LICENCES_FILE } from '../image/licence-texts.ts';
import { writeOciImage, type OciImage } from '../image/oci-layout.ts';
import { sharedLibraries } from '../image/shared-libraries.ts';
import { systemFiles } from '../image/system-files.ts';
import { thirdParty, type ThirdParty } from '../image/third-party.ts';
import type { BuiltExecutable } from './build-executable.ts';

const repository = fileURLToPath(new URL('../../', import.meta.url));
const PROGRAM = '/usr/bin/outrigger-image-credentials';
const DOCUMENTS = '/usr/share/doc/outrigger';

/** The latter of what is in it, and so in the executable. */
export interface InstallerImage extends OciImage, ThirdParty {}

/** Writes `image.tar` into the folder, an OCI layout. */
export function makeInstallerImage(folder: string, executable: BuiltExecutable, version: string): InstallerImage {
  const { file, inputs, node } = executable;
  const libraries = sharedLibraries(file);
  const { bill, licences } = thirdParty({
    program: 'image-credentials',
    purl: `pkg:oci/image-credentials?tag=v${version}`,
    version,
    inputs,
    runtime: { node, libraries },
  });
  const root = path.join(folder, 'root');
  rmSync(root, { recursive: true, force: true });
  const put = (from: string, to: string): void => {
    mkdirSync(path.dirname(path.join(root, to)), { recursive: true });
    copyFileSync(from, path.join(root, to));
  };
  put(file, PROGRAM);
  chmodSync(path.join(root, PROGRAM), 0o755);
  for (const { from, to } of systemFiles(libraries, node)) put(from, to);
  put(path.join(repository, 'LICENSE'), `${DOCUMENTS}/LICENSE`);
  writeFileSync(path.join(root, DOCUMENTS, 'sbom.cdx.json'), bill);
  writeFileSync(path.join(root, DOCUMENTS, LICENCES_FILE), licences);
  for (const point of ['/proc', '/dev', '/sys', '/etc', '/config', '/node/bin', '/node/config']) {
    mkdirSync(path.join(root, point), { recursive: true });
  }
  const image = writeOciImage(
    root,
    path.join(folder, 'image.tar'),
    `registry.example/outrigger/image-credentials:v${version}`,
    {
      title: 'Outrigger image credential provider',
      user: '0:0',
      env: { PATH: '/usr/bin' },
      entrypoint: [PROGRAM],
      workingDirectory: '/',
    },
  );
  rmSync(root, { recursive: true });
  return { ...image, bill, licences };
}
