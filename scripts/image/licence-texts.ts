/** The licences of the packages that are in a bundle, as one text: what esbuild keeps is no more than the comments in their files. */
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import type { BundledPackage } from './bundled-packages.ts';

/** By this name it is beside the bundle. */
export const LICENCES_FILE = 'THIRD-PARTY-LICENSES.txt';
/** Beside an executable that Node is in: its own, which names what Node holds. */
export const NODE_LICENCE_FILE = 'NODE-LICENSE.txt';
const NAME = /^(?:licen[cs]e|notice|copying)(?:\.(?:md|txt))?$/iu;

/** `root`: where `node_modules` is. */
export function licenceTexts(packages: readonly BundledPackage[], root: string): string {
  const texts = packages.map(({ license, name, path: place, version }) => {
    const folder = path.join(root, place);
    const files = readdirSync(folder).filter((file) => NAME.test(file));
    const terms = files.toSorted().map((file) => readFileSync(path.join(folder, file), 'utf8').trim());
    return `${name} ${version} (${license})\n\n${terms.join('\n\n') || authorOf(folder)}`;
  });
  return `${texts.join(`\n\n${'='.repeat(80)}\n\n`)}\n`;
}

function authorOf(folder: string): string {
  const { author } = JSON.parse(readFileSync(path.join(folder, 'package.json'), 'utf8')) as {
    readonly author?: string | { readonly name: string };
  };
  const name = typeof author === 'string' ? author : author?.name;
  return `The package has no text of its licence. Its author: ${name ?? 'not named'}`;
}
