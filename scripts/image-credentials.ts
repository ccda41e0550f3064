/** `make image-credentials`: the image credential provider as a script, as an executable, and the image of its installer, in `dist/image-credentials`. */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { buildExecutable, buildScript } from './image-credentials/build-executable.ts';
import { makeInstallerImage } from './image-credentials/make-image.ts';

const repository = fileURLToPath(new URL('../', import.meta.url));
const folder = path.join(repository, 'dist/image-credentials');
const { version } = JSON.parse(readFileSync(path.join(repository, 'package.json'), 'utf8')) as { version: string };

const script = await buildScript(folder);
const executable = await buildExecutable(folder);
for (const { bytes, file } of [script, executable]) {
  console.log(`${path.relative(process.cwd(), file)}: ${(bytes / 1e6).toFixed(2)} MB`);
}
const { digest, layerBytes } = makeInstallerImage(folder, executable.file, version);
const image = path.relative(process.cwd(), path.join(folder, 'image.tar'));
console.log(
  `${image}: outrigger/image-credentials:v${version}, ${(layerBytes / 1e6).toFixed(1)} MB to download, ${digest}`,
);
