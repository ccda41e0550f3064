/** What a page of Markdown links to, and what in it can be linked to. Pure. */

/** The targets of `[text](target)`, in their order; what is code is no link. */
export function linksOf(page: string): readonly string[] {
  return foundLinks(page).map(({ target }) => target);
}

/** The page with each target replaced by what `to` makes of it. */
export function mapLinks(page: string, to: (target: string) => string): string {
  let mapped = '';
  let from = 0;
  for (const { start, target } of foundLinks(page)) {
    mapped += `${page.slice(from, start)}${to(target)}`;
    from = start + target.length;
  }
  return `${mapped}${page.slice(from)}`;
}

function foundLinks(page: string): readonly { readonly start: number; readonly target: string }[] {
  const prose = withoutBlocks(page).replaceAll(/(`+)(?!`).*?(?<!`)\1(?!`)/gsu, blank);
  // Images are links too; a title and angle brackets are not part of the target.
  return [...prose.matchAll(/\]\(\s*<?([^\s<>)]+)>?(?:\s+"[^"]*")?\s*\)/dgu)].map(({ 1: target = '', indices }) => ({
    start: indices?.[1]?.[0] ?? 0,
    target,
  }));
}

/** The anchors that GitHub gives to headings, and those that are written as `<a id="…">`. */
export function anchorsOf(page: string): ReadonlySet<string> {
  const prose = withoutBlocks(page);
  const anchors = new Set([...prose.matchAll(/<a (?:id|name)="([^"]+)"/gu)].map(([, id = '']) => id));
  for (const [, heading = ''] of prose.matchAll(/^#{1,6}\s+(.+?)\s*#*$/gmu)) {
    const anchor = slugOf(heading);
    let unique = anchor;
    for (let count = 1; anchors.has(unique); count++) unique = `${anchor}-${count}`;
    anchors.add(unique);
  }
  return anchors;
}

/** Letters, digits, `_` and `-` stay, in lower case; spaces become `-`; all else goes. Of a link the text counts. */
export function slugOf(heading: string): string {
  return heading
    .replaceAll(/\[([^\]]*)\]\([^)]*\)/gu, '$1')
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
    .replaceAll(/\s/gu, '-');
}

function withoutBlocks(page: string): string {
  return page.replaceAll(/^( *)(`{3,}|~{3,}).*?^ *\2[`~]*\s*?$/gmsu, blank);
}

/** What is in it stands where it stood. */
function blank(code: string): string {
  return code.replaceAll(/[^\n]/gu, ' ');
}
