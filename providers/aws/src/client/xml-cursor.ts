/**
 * Reads XML forwards, element by element, and passes over what nobody asks for without making anything of it: of an answer of 4 MB a
 * fifth is needed. AWS' answers have no attributes but name spaces. A document type is refused: it can define text that grows.
 */
export class XmlCursor {
  readonly #text: string;
  #at = 0;
  /** Of the start tag that was read last: `<a/>`. */
  #isEmpty = false;

  constructor(text: string) {
    this.#text = text;
  }

  /** The name of the next element inside of this one, whose content comes next; `undefined`: the end of this one was read. */
  child(parent: string): string | undefined {
    if (this.#isEmpty) {
      this.#isEmpty = false;
      return undefined;
    }
    const tag = this.#nextTag();
    if (tag.charCodeAt(0) !== SLASH) return this.#started(tag);
    if (nameIn(tag, 1) !== parent) throw new SyntaxError(`</${parent}> is missing`);
    return undefined;
  }

  /** The name of the outermost element, whose content comes next. */
  root(): string {
    const tag = this.#nextTag();
    if (tag.charCodeAt(0) === SLASH) throw new SyntaxError('it begins with an end');
    return this.#started(tag);
  }

  /** The text of the element, which has none but text. */
  text(name: string): string {
    if (this.#isEmpty) {
      this.#isEmpty = false;
      return '';
    }
    let text = '';
    for (;;) {
      const end = this.#text.indexOf('<', this.#at);
      if (end < 0) throw new SyntaxError('it is cut off');
      if (end > this.#at) text += unescaped(this.#text.slice(this.#at, end));
      this.#at = end;
      if (this.#text.startsWith(CDATA, end)) text += this.#until(end + CDATA.length, ']]>');
      else if (this.#text.startsWith('<!--', end)) this.#until(end + 4, '-->');
      else break;
    }
    if (nameIn(this.#nextTag(), 1) !== name) throw new SyntaxError(`${name} has elements in it, and should be a text`);
    return text;
  }

  /** Passes over the element, whatever is in it. */
  skip(name: string): void {
    const open = [name];
    while (open.length > 0) {
      const inner = this.child(open.at(-1) as string);
      if (inner === undefined) open.pop();
      else open.push(inner);
    }
  }

  #started(tag: string): string {
    this.#isEmpty = tag.charCodeAt(tag.length - 1) === SLASH;
    return nameIn(tag, 0);
  }

  /** What is between `<` and `>`: of an end tag with its slash. */
  #nextTag(): string {
    for (;;) {
      const start = this.#text.indexOf('<', this.#at);
      const end = this.#text.indexOf('>', start);
      if (start < 0 || end < 0) throw new SyntaxError('it is cut off');
      this.#at = end + 1;
      const first = this.#text.charCodeAt(start + 1);
      if (first !== EXCLAMATION && first !== QUESTION) return this.#text.slice(start + 1, end);
      if (first === QUESTION) this.#until(start, '?>');
      else if (this.#text.startsWith('<!--', start)) this.#until(start, '-->');
      else if (this.#text.startsWith(CDATA, start)) this.#until(start, ']]>');
      else throw new SyntaxError('XML with a document type is not read');
    }
  }

  #until(from: number, mark: string): string {
    const end = this.#text.indexOf(mark, from);
    if (end < 0) throw new SyntaxError('it is cut off');
    this.#at = end + mark.length;
    return this.#text.slice(from, end);
  }
}

const SLASH = 0x2f;
const EXCLAMATION = 0x21;
const QUESTION = 0x3f;
const CDATA = '<![CDATA[';
const ENTITIES: Readonly<Record<string, string>> = { amp: '&', apos: "'", gt: '>', lt: '<', quot: '"' };

/** Of a tag: without its slashes, attributes and the prefix of a name space. */
function nameIn(tag: string, from: number): string {
  let end = from;
  while (end < tag.length && !ENDS_NAME.has(tag.charCodeAt(end))) end++;
  return tag.slice(from, end);
}

const ENDS_NAME: ReadonlySet<number> = new Set([0x20, 0x09, 0x0a, 0x0d, SLASH]);

function unescaped(text: string): string {
  if (!text.includes('&')) return text;
  return text.replaceAll(
    /&(?:#(\d{1,7})|#x([0-9a-f]{1,6})|(\w+));/giu,
    (all, decimal?: string, hex?: string, name?: string) => {
      if (name !== undefined) return ENTITIES[name] ?? all;
      return String.fromCodePoint(decimal === undefined ? Number.parseInt(hex ?? '', 16) : Number(decimal));
    },
  );
}
