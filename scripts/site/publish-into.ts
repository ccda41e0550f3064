/** A folder of several versions of the site: `v1.2.3/` for each, `versions.json` for their menus, `index.html` that leads to the newest. */
import { cpSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';

/** Adds a built site, or replaces the one of this version. Returns the versions that are there now, the newest first. */
export function publishInto(folder: string, dist: string, version: string): readonly string[] {
  mkdirSync(folder, { recursive: true });
  rmSync(path.join(folder, `v${version}`), { recursive: true, force: true });
  cpSync(dist, path.join(folder, `v${version}`), { recursive: true });
  const versions = readdirSync(folder)
    .filter((name) => /^v\d+\.\d+\.\d+/u.test(name))
    .map((name) => name.slice(1))
    .toSorted(newestFirst);
  writeFileSync(path.join(folder, 'versions.json'), `${JSON.stringify(versions)}\n`);
  writeFileSync(path.join(folder, 'index.html'), redirectTo(`./v${versions[0]}/`));
  return versions;
}

/** By number, and `1.0.0-rc.1` before `1.0.0`. */
function newestFirst(a: string, b: string): number {
  const [coreA = '', preA] = a.split(/-(.*)/u);
  const [coreB = '', preB] = b.split(/-(.*)/u);
  const order = new Intl.Collator('en', { numeric: true }).compare;
  return (
    order(coreB, coreA) || Number(preA !== undefined) - Number(preB !== undefined) || order(preB ?? '', preA ?? '')
  );
}

function redirectTo(address: string): string {
  return `<!doctype html>\n<meta charset="utf-8">\n<meta http-equiv="refresh" content="0; url=${address}">\n<a href="${address}">Outrigger</a>\n`;
}
