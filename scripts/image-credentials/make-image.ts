/** The image that the installer runs: the executable, the libraries that it is loaded with, and nothing else. */
import { chmodSync, copyFileSync, mkdirSync, rmSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { writeOciImage, type OciImage } from '../image/oci-layout.ts';
import { sharedLibraries } from '../image/shared-libraries.ts';

const PROGRAM = '/usr/bin/outrigger-image-credentials';

/** Writes `image.tar` into the folder, an OCI layout. */
export function makeInstallerImage(folder: string, executable: string, version: string): OciImage {
  const root = path.join(folder, 'root');
  rmSync(root, { recursive: true, force: true });
  const put = (from: string, to: string): void => {
    mkdirSync(path.dirname(path.join(root, to)), { recursive: true });
    copyFileSync(from, path.join(root, to));
  };
  put(executable, PROGRAM);
  chmodSync(path.join(root, PROGRAM), 0o755);
  for (const { path: library } of sharedLibraries(executable)) put(library, library);
  put(fileURLToPath(new URL('../../LICENSE', import.meta.url)), '/usr/share/doc/outrigger/LICENSE');
  for (const point of ['/proc', '/dev', '/sys', '/etc', '/config', '/node/bin', '/node/config']) {
    mkdirSync(path.join(root, point), { recursive: true });
  }
  const image = writeOciImage(root, path.join(folder, 'image.tar'), `outrigger/image-credentials:v${version}`, {
    title: 'Outrigger image credential provider',
    user: '0:0',
    env: { PATH: '/usr/bin' },
    entrypoint: [PROGRAM],
    workingDirectory: '/',
  });
  rmSync(root, { recursive: true });
  return image;
}
