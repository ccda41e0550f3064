/** What a page of Markdown links to, and what in it can be linked to. Pure. */

/** The targets of `[text](target)`, in their order; what is code is no link. */
export function linksOf(page: string): readonly string[] {
  const prose = withoutBlocks(page).replaceAll(/(`+)(?!`).*?(?<!`)\1(?!`)/gsu, (code) =>
    code.replaceAll(/[^\n]/gu, ' '),
  );
  // Images are links too; a title and angle brackets are not part of the target.
  return [...prose.matchAll(/\]\(\s*<?([^\s<>)]+)>?(?:\s+"[^"]*")?\s*\)/gu)].map(([, target = '']) => target);
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
function slugOf(heading: string): string {
  return heading
    .replaceAll(/\[([^\]]*)\]\([^)]*\)/gu, '$1')
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
    .replaceAll(/\s/gu, '-');
}

function withoutBlocks(page: string): string {
  return page.replaceAll(/^( *)(`{3,}|~{3,}).*?^ *\2[`~]*\s*?$/gmsu, '');
}
