/** Which files of the repository are pages of the site, under which address, and where a link of one leads to. Pure. */
import path from 'node:path';

/** Files that are pages: docs/, the docs of the providers, the READMEs of the packages, and three at the top. */
const PAGES: readonly (readonly [file: RegExp, page: string])[] = [
  [/^docs\/(.+)\.md$/u, '$1.md'],
  [/^providers\/([^/]+)\/docs\/(.+)\.md$/u, 'providers/$1/$2.md'],
  [/^packages\/([^/]+)\/README\.md$/u, 'packages/$1.md'],
  [/^(CHANGELOG|CONTRIBUTING|SECURITY)\.md$/u, '$1.md'],
];

/** Globs that hold each of them. */
export const PAGE_GLOBS: readonly string[] = [
  'docs/**/*.md',
  'providers/*/docs/**/*.md',
  'packages/*/README.md',
  '{CHANGELOG,CONTRIBUTING,SECURITY}.md',
];

/** `docs/guides/deploy/README.md`: `guides/deploy/index.md`. `undefined`: no page of the site. */
export function pageOf(file: string): string | undefined {
  for (const [pattern, page] of PAGES) {
    if (pattern.test(file)) return file.replace(pattern, page).replace(/(^|\/)README\.md$/u, '$1index.md');
  }
  return undefined;
}

/** `guides/deploy/index.md`: `/guides/deploy/`. `guides/explain.md`: `/guides/explain.html`, which a plain file server finds too. */
export function addressOf(page: string): string {
  return `/${page.replace(/(^|\/)index\.md$/u, '$1').replace(/\.md$/u, '.html')}`;
}

/** What a relative link of a page leads to. */
export type Target =
  | { readonly page: string }
  /** A file of docs/ that is no page, which is on the site as it is. */
  | { readonly file: string }
  /** The path of another file or folder of the repository. */
  | { readonly source: string };

/**
 * Where a link of a file leads to on the site, by an address from the site's own root. `files`: those of the repository that are pages.
 * `undefined`: it is no relative link, and stays.
 */
export function targetOf(file: string, link: string, files: ReadonlySet<string>): Target | undefined {
  if (/^(?:[a-z]+:|#|\/)/u.test(link)) return undefined;
  const [target = '', anchor] = link.split('#');
  const named = path.posix.normalize(path.posix.join(path.posix.dirname(file), decodeURI(target))).replace(/\/$/u, '');
  // GitHub shows the README of a folder.
  const found = [named, `${named}/README.md`].find((one) => files.has(one));
  const page = found === undefined ? undefined : pageOf(found);
  if (page !== undefined) return { page: `${addressOf(page)}${anchor === undefined ? '' : `#${anchor}`}` };
  return /^docs\/.+\.[a-z]+$/u.test(named) ? { file: named.replace(/^docs/u, '') } : { source: named };
}
