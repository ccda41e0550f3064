/**
 * `make site`: docs/ and the providers' docs as a web site in site/.vitepress/dist, which needs no network to be built or read once its
 * dependencies are there. A link that leads nowhere fails. `INTO=folder` adds it to the folder that is published, as one version of several.
 */
import { spawnSync } from 'node:child_process';
import { readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import { brokenBuiltLinks } from './site/built-links.ts';
import { publishInto } from './site/publish-into.ts';

const site = path.resolve(import.meta.dirname, '../site');
const dist = path.join(site, '.vitepress/dist');
const { version } = JSON.parse(readFileSync(path.join(site, '../package.json'), 'utf8')) as {
  readonly version: string;
};
const into = process.env['INTO'] || undefined;
/** Where the published folder is on its server. */
const server = process.env['SITE_BASE'] || '/';
const base = into === undefined ? server : `${server}v${version}/`;

/** All of it, against a hang: in `make test` it gives way to all other stages. How npm tries again says site/.npmrc. */
const INSTALL_MS = 900_000;
const INSTALL = ['install', '--no-save', '--loglevel=error'];

if (!isInstalled() && !ends('npm', INSTALL, INSTALL_MS)) {
  console.error('site: the packages of site/package-lock.json cannot be installed; is the registry of npm reachable?');
  process.exit(1);
}
if (!ends(process.execPath, ['node_modules/vitepress/bin/vitepress.js', 'build', '.'])) process.exit(1);

const broken = brokenBuiltLinks(dist, base);
for (const link of broken) console.error(`${link} leads nowhere`);
if (broken.length > 0) process.exit(1);

if (into === undefined) console.log(`the site is in ${path.relative(process.cwd(), dist)}`);
else console.log(`${into} has ${publishInto(into, dist, version).join(', ')}`);

/** npm writes the second file when it is done. */
function isInstalled(): boolean {
  const changed = (file: string): number => statSync(path.join(site, file), { throwIfNoEntry: false })?.mtimeMs ?? 0;
  return changed('node_modules/.package-lock.json') > changed('package-lock.json');
}

/** Whether it ended well, in time. */
function ends(command: string, args: readonly string[], timeout?: number): boolean {
  const env = { ...process.env, SITE_BASE: base, SITE_PUBLISHED: into === undefined ? '' : 'yes' };
  return spawnSync(command, args, { cwd: site, env, stdio: 'inherit', ...(timeout && { timeout }) }).status === 0;
}
