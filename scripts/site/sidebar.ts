/**
 * The sidebar of the site, in the order of docs/README.md: a group for each heading, an item for each link of a table's first column or
 * of a list. An item whose page is the README.md of a folder holds the pages of that folder that the README links to. Pure.
 */
import path from 'node:path';
import { addressOf, pageOf } from './site-pages.ts';

export interface SidebarItem {
  readonly text: string;
  readonly link?: string;
  readonly collapsed?: boolean;
  readonly items?: readonly SidebarItem[];
}

/** `read` returns the text of a file of the repository. */
export function sidebarOf(read: (file: string) => string): readonly SidebarItem[] {
  const index = 'docs/README.md';
  const groups: SidebarItem[] = [];
  for (const section of read(index)
    .split(/^(?=#{2,3} )/mu)
    .slice(1)) {
    const text = /^#+ ([^:\n]+)/u.exec(section)?.[1]?.trim() ?? '';
    const items = linksOfTable(index, section).map(({ file, text }) => itemOf(file, text, read));
    if (items.length > 0) groups.push({ text, collapsed: false, items });
  }
  return groups;
}

function itemOf(file: string, text: string, read: (file: string) => string): SidebarItem {
  const link = addressOf(pageOf(file) ?? file);
  if (path.basename(file) !== 'README.md') return { text, link };
  const folder = `${path.dirname(file)}/`;
  const seen = new Set([file]);
  const items: SidebarItem[] = [];
  for (const { file: inner } of linksOf(file, read(file))) {
    if (seen.has(inner) || !inner.startsWith(folder) || pageOf(inner) === undefined) continue;
    seen.add(inner);
    items.push({ text: titleOf(read(inner)), link: addressOf(pageOf(inner) ?? inner) });
  }
  return items.length === 0 ? { text, link } : { text, link, collapsed: true, items };
}

/** The first heading, without what marks code. */
function titleOf(page: string): string {
  return (/^# (.+)$/mu.exec(page)?.[1] ?? '').replaceAll('`', '').trim();
}

interface Link {
  readonly file: string;
  readonly text: string;
}

function linksOfTable(file: string, text: string): readonly Link[] {
  return text
    .split('\n')
    .filter((line) => /^(?:\||[*-] )/u.test(line))
    .flatMap((line) => linksOf(file, line.startsWith('|') ? (line.split('|')[1] ?? '') : line))
    .filter(({ file }) => pageOf(file) !== undefined);
}

function linksOf(file: string, text: string): readonly Link[] {
  return [...text.matchAll(/\[([^\]]+)\]\(([^)\s#]+\.md)(?:#[^)]*)?\)/gu)].map(([, name = '', target = '']) => ({
    file: path.posix.normalize(path.posix.join(path.posix.dirname(file), target)),
    text: sentence(name.replaceAll('`', '')),
  }));
}

/** `runbooks`, as it is in the midst of a row, becomes `Runbooks`; `vSphere` stays. */
function sentence(text: string): string {
  return /^.[A-Z]/u.test(text) ? text : text.charAt(0).toUpperCase() + text.slice(1);
}
