/** Which relative links of pages lead nowhere. */
import { existsSync, readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import { anchorsOf, linksOf } from './doc-links.ts';

/**
 * `pages`: relative to `root`. A link is broken that leads to no file, to no heading in it, or out of `within` (default: `root`).
 * Returns `docs/a.md: b.md#c` for each. Addresses are not asked for.
 */
export function brokenLinks(root: string, pages: readonly string[], within: string = root): readonly string[] {
  return pages.flatMap((page) => {
    const links = linksOf(readFileSync(path.join(root, page), 'utf8'));
    return links.filter((link) => !leadsSomewhere(root, page, link, within)).map((link) => `${page}: ${link}`);
  });
}

function leadsSomewhere(root: string, page: string, link: string, within: string): boolean {
  if (isAddress(link)) return true;
  const [target = '', anchor] = link.split('#');
  const file = path.join(root, target === '' ? page : path.join(path.dirname(page), pathOf(target)));
  if (!existsSync(file) || path.relative(within, file).startsWith('..')) return false;
  if (anchor === undefined) return true;
  return statSync(file).isFile() && anchorsOf(readFileSync(file, 'utf8')).has(anchor);
}

/** `https:…`, `mailto:…`: not a path. */
export function isAddress(link: string): boolean {
  return /^[a-z]+:/u.test(link);
}

/** `a%20b.md`: `a b.md`. What is no such code, as in `100%.md`, stays. */
export function pathOf(target: string): string {
  try {
    return decodeURIComponent(target);
  } catch {
    return target;
  }
}
