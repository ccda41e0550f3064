/**
 * From a file of the template to that of a repository. The template is itself a repository that works, of a cloud named My Cloud with all
 * capabilities: what is for one of them alone stands between the comments `<routes>` and `</routes>`, each on a line of its own. Pure.
 */

export interface TemplateValues {
  /** `acme`: replaces `my-cloud`. */
  readonly name: string;
  /** `Acme Cloud`: replaces `My Cloud`. */
  readonly title: string;
  /** Which parts stay: `routes`, `additional`, `no-additional` … */
  readonly parts: ReadonlySet<string>;
}

const MARK = /^\s*(?:\/\/|#|<!--) <(?<end>\/?)(?<part>[a-z-]+)>(?: -->)?$/u;

/** Throws an `Error` for a part that does not end. */
export function renderTemplate(text: string, { name, parts, title }: TemplateValues): string {
  const lines: string[] = [];
  let open: string | undefined;
  for (const line of text.split('\n')) {
    const { end, part } = MARK.exec(line)?.groups ?? {};
    if (part === undefined) {
      if (open === undefined || parts.has(open)) lines.push(line);
    } else if (end === '' && open === undefined) {
      open = part;
    } else if (end === '/' && open === part) {
      open = undefined;
    } else {
      throw new Error(`<${end}${part}> stands where ${open === undefined ? 'no part is open' : `<${open}> is`}`);
    }
  }
  if (open !== undefined) throw new Error(`the part <${open}> does not end`);
  return lines.join('\n').replaceAll('my-cloud', name).replaceAll('My Cloud', title);
}
