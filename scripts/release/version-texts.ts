/** The version in the files of the repository, and the cut of the changelog. Pure. */

/** Files that name the version, as patterns relative to the repository. */
export const VERSIONED_FILES: readonly string[] = [
  'package.json',
  'package-lock.json',
  '{packages,providers}/*/package.json',
  '{distribution,bench,e2e}/package.json',
  'deploy/**/*',
  'docs/guides/deploy/*.md',
  'docs/reference/support-matrix.md',
];

/** Semantic Versioning without build metadata, which an image's tag cannot hold. */
const VERSION = /^(?:0|[1-9]\d*)(?:\.(?:0|[1-9]\d*)){2}(?:-[0-9A-Za-z]+(?:[.-][0-9A-Za-z]+)*)?$/u;

/** Throws an `Error` for what is no version. */
export function checkVersion(version: string): void {
  if (!VERSION.test(version)) throw new Error(`VERSION=${version} is no version like 1.2.3 or 1.2.3-rc.1`);
}

/** `text` of `file` with `to` for each `from`. Addresses that have the digits of a version within them (10.1.0.1, 10.0.1.0/24) are left. */
export function setVersion(file: string, text: string, from: string, to: string): string {
  if (file === 'package-lock.json') return setLockedVersion(text, from, to);
  if (file.endsWith('package.json')) return setManifestVersion(text, from, to);
  return text.replaceAll(new RegExp(String.raw`(?<![\d.])${escaped(from)}(?![\d.]*\d)`, 'gu'), to);
}

function setManifestVersion(text: string, from: string, to: string): string {
  return text
    .replace(new RegExp(String.raw`^(  "version": )"${escaped(from)}"`, 'mu'), `$1"${to}"`)
    .replaceAll(new RegExp(String.raw`("@outrigger/[\w-]+": )"${escaped(from)}"`, 'gu'), `$1"${to}"`);
}

interface LockFile {
  version: string;
  readonly packages: Readonly<Record<string, { version?: string; dependencies?: Record<string, string> }>>;
}

/** Of our own packages only: others may have the same version. */
function setLockedVersion(text: string, from: string, to: string): string {
  const lock = JSON.parse(text) as LockFile;
  lock.version = to;
  for (const [path, locked] of Object.entries(lock.packages)) {
    if (path.includes('node_modules')) continue;
    if (locked.version === from) locked.version = to;
    for (const group of ['dependencies', 'devDependencies'] as const) {
      const dependencies = (locked as Record<string, Record<string, string> | undefined>)[group] ?? {};
      for (const name of Object.keys(dependencies)) {
        if (name.startsWith('@outrigger/')) dependencies[name] = to;
      }
    }
  }
  return `${JSON.stringify(lock, undefined, 2)}\n`;
}

export interface CutChangelog {
  readonly text: string;
  /** What the release says: the body of its section. */
  readonly notes: string;
}

const UNRELEASED = '## [Unreleased]';

/** `date`: `2026-12-31`. A changelog that has the section already is left as it is. Throws an `Error` where there is nothing to release. */
export function cutChangelog(text: string, version: string, date: string): CutChangelog {
  const heading = `## [${version}]`;
  if (text.includes(`\n${heading}`)) return { text, notes: sectionOf(text, heading) };
  const notes = text.includes(`\n${UNRELEASED}\n`) ? sectionOf(text, UNRELEASED) : '';
  if (notes === '') throw new Error(`CHANGELOG.md has nothing below ${UNRELEASED}`);
  return { text: text.replace(`\n${UNRELEASED}\n`, `\n${UNRELEASED}\n\n${heading} - ${date}\n`), notes };
}

function sectionOf(text: string, heading: string): string {
  const start = text.indexOf(`\n${heading}`) + 1;
  const body = text.slice(text.indexOf('\n', start) + 1);
  const next = body.search(/^## /mu);
  return (next < 0 ? body : body.slice(0, next)).trim();
}

function escaped(version: string): string {
  return version.replaceAll('.', String.raw`\.`);
}
