/** The root file system of the image: Node, the libraries that it is loaded with, the terms of both, the program, and nothing else. */
import { chmodSync, copyFileSync, cpSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { buildProgram } from '../build-program.ts';
import { NODE_PATH, PROGRAM_DIRECTORY, PROVIDERS_DIRECTORY, USER } from './image-settings.ts';
import { LICENCES_FILE } from './licence-texts.ts';
import { sharedLibraries } from './shared-libraries.ts';
import { shippedNode } from './shipped-node.ts';
import { systemFiles } from './system-files.ts';
import { thirdParty } from './third-party.ts';

const repository = fileURLToPath(new URL('../../', import.meta.url));

/** For whoever looks up the own user; how names are resolved. The empty ones are there to be mounted over. */
const ETC: Readonly<Record<string, string>> = {
  passwd: `root:x:0:0:root:/:/nonexistent\nnonroot:x:${USER}:${USER}:nonroot:/:/nonexistent\n`,
  group: `root:x:0:\nnonroot:x:${USER}:\n`,
  'nsswitch.conf': 'hosts: files dns\n',
  hosts: '',
  'resolv.conf': '',
};

/** Where the container runtime, or a volume, is mounted: in a read-only root it cannot make them. */
const MOUNT_POINTS = ['/proc', '/dev', '/sys', '/etc/outrigger', PROVIDERS_DIRECTORY];

/** Makes `root` anew. Returns the bill of materials, which is in it too. Needs Linux: what is copied is of this machine. */
export async function makeRootFileSystem(root: string, version: string): Promise<string> {
  if (process.platform !== 'linux') {
    throw new Error(`an image holds programs for Linux, and this is ${process.platform}: use deploy/image/Dockerfile`);
  }
  const node = shippedNode(repository);
  rmSync(root, { recursive: true, force: true });
  const inRoot = (path: string): string => join(root, path);
  const put = (from: string, to: string): void => {
    mkdirSync(dirname(inRoot(to)), { recursive: true });
    copyFileSync(from, inRoot(to));
  };

  put(node.path, NODE_PATH);
  chmodSync(inRoot(NODE_PATH), 0o755);
  const libraries = sharedLibraries(node.path);
  for (const { from, to } of systemFiles(libraries, node)) put(from, to);
  for (const point of MOUNT_POINTS) mkdirSync(inRoot(point), { recursive: true });
  for (const [name, text] of Object.entries(ETC)) writeFileSync(inRoot(`/etc/${name}`), text);

  const building = inRoot('/building');
  // Without maps: they are three times the program, and nothing reads them.
  const { bundle, commands, inputs } = await buildProgram(building, false);
  cpSync(dirname(bundle), inRoot(PROGRAM_DIRECTORY), { recursive: true });
  rmSync(building, { recursive: true });
  put(join(repository, 'LICENSE'), `${PROGRAM_DIRECTORY}/LICENSE`);
  // Without it Node would read the program twice to see that it is an ES module.
  writeFileSync(inRoot(`${PROGRAM_DIRECTORY}/package.json`), `${JSON.stringify({ version, type: 'module' })}\n`);

  const { bill, licences } = thirdParty({
    program: 'cloud-controller-manager',
    purl: `pkg:oci/cloud-controller-manager?tag=v${version}`,
    version,
    inputs: [...inputs, ...commands.inputs],
    runtime: { node, libraries },
  });
  writeFileSync(inRoot(`${PROGRAM_DIRECTORY}/${LICENCES_FILE}`), licences);
  writeFileSync(inRoot(`${PROGRAM_DIRECTORY}/sbom.cdx.json`), bill);
  return bill;
}
