/** `make image-credentials`: the image credential provider as a script, as an executable, and the image of its installer, in `dist/image-credentials`. */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { buildExecutable, buildScript } from './image-credentials/build-executable.ts';
import { makeInstallerImage } from './image-credentials/make-image.ts';
import { startTime } from './image-credentials/start-time.ts';

const repository = fileURLToPath(new URL('../', import.meta.url));
const folder = path.join(repository, 'dist/image-credentials');
const { version } = JSON.parse(readFileSync(path.join(repository, 'package.json'), 'utf8')) as { version: string };

const script = await buildScript(folder);
const executable = await buildExecutable(folder);
const parts = [
  { ...script, command: [process.execPath, script.file] },
  { ...executable, command: [executable.file] },
] as const;
for (const { bytes, command, file } of parts) {
  const start = `starts in ${startTime(command).toFixed(0)} ms (median)`;
  console.log(`${path.relative(process.cwd(), file)}: ${(bytes / 1e6).toFixed(2)} MB, ${start}`);
}
const { digest, layerBytes } = makeInstallerImage(folder, executable.file, version);
const image = path.relative(process.cwd(), path.join(folder, 'image.tar'));
console.log(
  `${image}: outrigger/image-credentials:v${version}, ${(layerBytes / 1e6).toFixed(1)} MB to download, ${digest}`,
);
