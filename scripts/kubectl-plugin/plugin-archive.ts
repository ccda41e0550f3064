/** The plugin `kubectl outrigger`: an archive of the commands, and the manifest by which Krew installs it. */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { buildProgram, PLUGIN } from '../build-program.ts';
import { LICENCES_FILE } from '../image/licence-texts.ts';
import { SAME_EVERYWHERE } from '../image/oci-layout.ts';
import { thirdParty } from '../image/third-party.ts';

const repository = fileURLToPath(new URL('../../', import.meta.url));

/** Of the archive. */
function pluginArchiveName(version: string): string {
  return `kubectl-outrigger-${version}.tar.gz`;
}

/**
 * Writes the archive into `output`, with its bill of materials in it and beside it, and returns its path. The same sources give the same bytes.
 * Needs GNU tar.
 */
export async function writePluginArchive(output: string, version: string): Promise<string> {
  const directory = mkdtempSync(path.join(tmpdir(), 'outrigger-plugin-'));
  try {
    const { commands, outrigger } = await buildProgram(path.join(directory, 'built'), false);
    const root = path.join(directory, 'root');
    for (const folder of ['bin', 'dist']) mkdirSync(path.join(root, folder), { recursive: true });
    for (const name of PLUGIN) {
      copyFileSync(path.join(path.dirname(outrigger), name), path.join(root, 'bin', name));
    }
    for (const end of ['', '.LEGAL.txt']) {
      copyFileSync(`${commands.bundle}${end}`, path.join(root, 'dist', `outrigger.js${end}`));
    }
    // Without it Node would read the program twice to see that it is an ES module.
    writeFileSync(path.join(root, 'package.json'), `${JSON.stringify({ version, type: 'module' })}\n`);
    copyFileSync(path.join(repository, 'LICENSE'), path.join(root, 'LICENSE'));
    const { bill, licences } = thirdParty({
      program: PLUGIN[0]!,
      purl: `pkg:generic/${PLUGIN[0]}@${version}`,
      version,
      inputs: commands.inputs,
    });
    mkdirSync(output, { recursive: true });
    for (const folder of [root, output]) writeFileSync(path.join(folder, 'sbom.cdx.json'), bill);
    writeFileSync(path.join(root, LICENCES_FILE), licences);
    const unpacked = path.join(directory, 'plugin.tar');
    execFileSync('tar', [...SAME_EVERYWHERE, '-C', root, '-cf', unpacked, '.']);
    const archive = path.join(output, pluginArchiveName(version));
    writeFileSync(archive, gzipSync(readFileSync(unpacked)));
    return archive;
  } finally {
    rmSync(directory, { recursive: true });
  }
}

export interface KrewManifestOptions {
  /** `deploy/krew/outrigger.yaml`. */
  readonly template: string;
  /** Where the archive can be downloaded: the address without its name. */
  readonly releaseUrl: string;
  readonly archive: Uint8Array;
}

/** What goes to an index of Krew. Throws an `Error` for an address that is not `https`. */
export function krewManifest({ archive, releaseUrl, template }: KrewManifestOptions): string {
  if (!URL.canParse(releaseUrl) || new URL(releaseUrl).protocol !== 'https:') {
    throw new Error(`RELEASE_URL=${releaseUrl} is no https URL, which Krew asks for`);
  }
  const url = releaseUrl.replace(/\/+$/u, '');
  const text = template
    // Releases lie below the repository, on all that host both.
    .replace('HOMEPAGE', url.replace(/\/(?:-\/)?releases(?:\/.*)?$/u, ''))
    .replace('uri: RELEASE_URL', `uri: ${url}`)
    .replace('SHA256', createHash('sha256').update(archive).digest('hex'));
  // What is said of the template is not said of the manifest.
  return text.replace(/^#.*\n/u, '');
}
