/** Which links of a built site lead nowhere: to no file, or to no heading of it. */
import { existsSync, globSync, readFileSync } from 'node:fs';
import path from 'node:path';

/** `base` is the folder that the site is published in, such as `/v1.2.3/`. Returns `guides/a.html: /b.html#c` for each. */
export function brokenBuiltLinks(dist: string, base: string = '/'): readonly string[] {
  const pages = new Map(
    globSync('**/*.html', { cwd: dist }).map((page) => [page, readFileSync(path.join(dist, page), 'utf8')]),
  );
  const anchors = new Map([...pages].map(([page, html]) => [page, new Set(attributesOf(html, 'id'))]));
  const leads = (page: string, link: string): boolean => {
    const { hash, pathname } = new URL(link, `http://site${base}${page}`);
    if (!pathname.startsWith(base)) return false;
    const file = decodeURI(pathname.slice(base.length)).replace(/(^|\/)$/u, '$1index.html');
    if (hash === '') return existsSync(path.join(dist, file));
    return anchors.get(file)?.has(decodeURIComponent(hash.slice(1))) === true;
  };
  return [...pages].flatMap(([page, html]) =>
    [...new Set(attributesOf(html, 'href|src'))]
      .filter((link) => !/^(?:[a-z]+:|\/\/)/u.test(link) && !leads(page, link))
      .map((link) => `${page}: ${link}`),
  );
}

function attributesOf(html: string, names: string): readonly string[] {
  return [...html.matchAll(new RegExp(` (?:${names})="([^"]*)"`, 'gu'))].map(([, value = '']) =>
    value.replaceAll('&amp;', '&').replaceAll('&#39;', "'"),
  );
}
