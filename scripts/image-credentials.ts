/**
 * `make image-credentials`: the image credential provider as a script, as an executable, the image of its installer, the bill of materials and
 * the licences, in `dist/image-credentials`.
 *
 *     node scripts/image-credentials.ts [--no-times]
 */
import { copyFileSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { buildExecutable, buildScript } from './image-credentials/build-executable.ts';
import { makeInstallerImage } from './image-credentials/make-image.ts';
import { startTime } from './image-credentials/start-time.ts';
import { LICENCES_FILE, NODE_LICENCE_FILE } from './image/licence-texts.ts';

const repository = fileURLToPath(new URL('../', import.meta.url));
const { values } = parseArgs({ options: { 'no-times': { type: 'boolean' } } });
const folder = path.join(repository, 'dist/image-credentials');
const { version } = JSON.parse(readFileSync(path.join(repository, 'package.json'), 'utf8')) as { version: string };

const here = (file: string): string => path.relative(process.cwd(), file);

const script = await buildScript(folder);
const executable = await buildExecutable(folder);
const parts = [
  { ...script, command: [process.execPath, script.file] },
  { ...executable, command: [executable.file] },
] as const;
for (const { bytes, command, file } of parts) {
  const start = values['no-times'] ? '' : `, starts in ${startTime(command).toFixed(0)} ms (median)`;
  console.log(`${here(file)}: ${(bytes / 1e6).toFixed(2)} MB${start}`);
}
const { bill, digest, layerBytes, licences } = makeInstallerImage(folder, executable, version);
const image = here(path.join(folder, 'image.tar'));
console.log(
  `${image}: registry.example/outrigger/image-credentials:v${version}, ${(layerBytes / 1e6).toFixed(1)} MB to download, ${digest}`,
);
const [billFile, licencesFile] = [path.join(folder, 'sbom.cdx.json'), path.join(folder, LICENCES_FILE)];
writeFileSync(billFile, bill);
writeFileSync(licencesFile, licences);
copyFileSync(path.join(executable.node.path, '../../LICENSE'), path.join(folder, NODE_LICENCE_FILE));
console.log(`${here(billFile)}: what is in it\n${here(licencesFile)}: under which licences`);
