/**
 * `make image`: writes the root file system of the image, the image itself as an OCI layout in a tar file, and the bill of
 * materials, all without Docker. `deploy/image/Dockerfile` runs this for the root file system alone.
 *
 *     node scripts/image.ts [--output=dist/image] [--root-only]
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { imageSettings } from './image/image-settings.ts';
import { askLauncher } from './image/launch-settings.ts';
import { writeOciImage } from './image/oci-layout.ts';
import { makeRootFileSystem } from './image/root-file-system.ts';
import { treeBytes } from './image/tree-bytes.ts';

const repository = fileURLToPath(new URL('../', import.meta.url));
const { values } = parseArgs({
  options: { output: { type: 'string', default: join(repository, 'dist/image') }, 'root-only': { type: 'boolean' } },
});
const output = resolve(values.output);
const root = join(output, 'root');
const { version } = JSON.parse(readFileSync(join(repository, 'package.json'), 'utf8')) as { version: string };

mkdirSync(output, { recursive: true });
const bill = await makeRootFileSystem(root, version);
const here = (path: string): string => relative(process.cwd(), path);
const megabytes = (bytes: number): string => `${(bytes / 1e6).toFixed(1)} MB`;
console.log(`${here(root)}: ${megabytes(treeBytes(root))}`);
if (!values['root-only']) {
  writeFileSync(join(output, 'sbom.cdx.json'), bill);
  const name = `registry.example/outrigger/cloud-controller-manager:v${version}`;
  const file = join(output, 'image.tar');
  const { digest, layerBytes } = writeOciImage(
    root,
    file,
    name,
    imageSettings(askLauncher(join(repository, 'distribution/launcher.sh'))),
  );
  console.log(`${here(file)}: ${name}, ${megabytes(layerBytes)} to download, ${digest}`);
  console.log(`${here(join(output, 'sbom.cdx.json'))}: what is in it`);
}
