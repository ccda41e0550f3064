/**
 * The text format of many cloud configs: gcfg, a dialect of INI. Read by the same rules as gopkg.in/gcfg.v1 v1.2.3, with which providers in
 * Go read it (`scanner/scanner.go`, `read.go`): what is an error there is one here, on its line.
 */
import { ConfigSyntaxError } from './config-syntax-error.ts';

/** A section's header, or one line of a section; in the order of the file. */
export interface GcfgEntry {
  /** As written; sections and keys are the same in any case. */
  readonly section: string;
  /** `[section "subsection"]`. */
  readonly subsection: string | undefined;
  /** `undefined`: the header of the section. */
  readonly key: string | undefined;
  /** Unquoted. `undefined`: the key stands without `=`. */
  readonly value: string | undefined;
  /** From 1. */
  readonly line: number;
}

/** What stands in a text of gcfg, line by line. Throws `ConfigSyntaxError`. */
export function parseGcfg(text: string): readonly GcfgEntry[] {
  const scanner = new Scanner(text);
  const entries: GcfgEntry[] = [];
  let at: Pick<GcfgEntry, 'section' | 'subsection'> | undefined;
  while (scanner.toNextLineWithContent()) {
    const { line } = scanner;
    if (scanner.take('[')) {
      at = scanner.header();
      entries.push({ ...at, key: undefined, value: undefined, line });
      continue;
    }
    const key = scanner.identifier();
    if (key === '') throw scanner.error('expected a [section] or a key');
    if (!at) throw scanner.error(`key ${key} appears before the first [section]`);
    entries.push({ ...at, key, value: scanner.valueOfKey(key), line });
  }
  return entries;
}

const SPACE = /[ \t\r]/u;
const IDENTIFIER = /[\p{L}\p{Nd}-]/u;
const ESCAPES: Readonly<Record<string, string>> = { '\\': '\\', '"': '"', n: '\n', t: '\t' };

class Scanner {
  readonly #text: string;
  #at = 0;
  line = 1;

  constructor(text: string) {
    this.#text = text.startsWith('\uFEFF') ? text.slice(1) : text;
  }

  error(message: string, line: number = this.line): ConfigSyntaxError {
    return new ConfigSyntaxError(line, message);
  }

  /** False at the end of the text. */
  toNextLineWithContent(): boolean {
    do this.#skipSpaceAndComment();
    while (this.take('\n'));
    return this.#at < this.#text.length;
  }

  take(char: string): boolean {
    if (this.#text[this.#at] !== char) return false;
    this.#next();
    return true;
  }

  /** What follows `[`. */
  header(): Pick<GcfgEntry, 'section' | 'subsection'> {
    this.#skipSpace();
    const section = this.identifier();
    if (section === '') throw this.error('expected the name of a section after [');
    this.#skipSpace();
    let subsection: string | undefined;
    if (this.take('"')) {
      subsection = this.#subsection();
      if (subsection === '') throw this.error(`[${section} ""]: the name between the quotes is empty`);
      this.#skipSpace();
    }
    if (!this.take(']')) throw this.error(`expected ] after [${section}`);
    this.#expectEndOfLine(`[${section}]`);
    return { section, subsection };
  }

  /** A letter, then letters, digits and dashes; `''` where there is none. */
  identifier(): string {
    const start = this.#at;
    if (/\p{L}/u.test(this.#char())) while (IDENTIFIER.test(this.#char())) this.#at += this.#char().length;
    return this.#text.slice(start, this.#at);
  }

  /** What follows a key, to the end of its line. */
  valueOfKey(key: string): string | undefined {
    this.#skipSpaceAndComment();
    if (this.#atEndOfLine()) return undefined;
    if (!this.take('=')) throw this.error(`expected = after the key ${key}`);
    this.#skipSpace();
    const value = this.#value();
    this.#expectEndOfLine(key);
    return value;
  }

  /** After the opening quote, to behind the closing one. Here `\n` and `\t` are no escapes. */
  #subsection(): string {
    let name = '';
    const { line } = this;
    for (;;) {
      const char = this.#next();
      if (char === '"') return name;
      if (char === '' || char === '\n') throw this.error('the name of the subsection has no closing quote', line);
      name += char === '\\' ? this.#escape('\\"') : char;
    }
  }

  /** Quotes may begin and end anywhere in it; outside of them, a comment or the line's end ends it, and trailing space is none of it. */
  #value(): string {
    let value = '';
    let end = 0;
    let quoted = false;
    while (quoted || !this.#atEndOfValue()) {
      const char = this.#next();
      if (char === '') throw this.error('the value has no closing quote');
      if (char === '\n') throw this.error('the value has no closing quote', this.line - 1);
      if (char === '"') quoted = !quoted;
      else if (char === '\\') value += quoted ? this.#escape('\\"nt') : this.#unquotedEscape();
      else if (char !== '\r') value += char;
      if (quoted || !SPACE.test(char)) end = value.length;
    }
    return value.slice(0, end);
  }

  #escape(allowed: string): string {
    const { line } = this;
    const char = this.#next();
    if (char === '' || !allowed.includes(char))
      throw this.error(`\\ must be followed by one of ${allowed.split('').join(' ')}`, line);
    return ESCAPES[char] ?? char;
  }

  /** `\` and the line's end: the value goes on in the next line. */
  #unquotedEscape(): string {
    this.take('\r');
    if (this.take('"')) return '"';
    if (this.take('\n')) return '';
    throw this.error('outside of quotes, \\ must be followed by " or by the end of the line; quote the value');
  }

  #char(): string {
    const code = this.#text.codePointAt(this.#at);
    return code === undefined ? '' : String.fromCodePoint(code);
  }

  #next(): string {
    const char = this.#char();
    if (char === '\0') throw this.error('a NUL character');
    this.#at += char.length;
    if (char === '\n') this.line++;
    return char;
  }

  #atEndOfLine(): boolean {
    return this.#at >= this.#text.length || this.#text[this.#at] === '\n';
  }

  #atEndOfValue(): boolean {
    return this.#atEndOfLine() || ';#'.includes(this.#char());
  }

  #expectEndOfLine(after: string): void {
    this.#skipSpaceAndComment();
    if (!this.#atEndOfLine()) throw this.error(`expected nothing more on the line of ${after}`);
  }

  #skipSpace(): void {
    while (this.#at < this.#text.length && SPACE.test(this.#char())) this.#at++;
  }

  #skipSpaceAndComment(): void {
    this.#skipSpace();
    if (this.#char() !== '' && ';#'.includes(this.#char())) while (!this.#atEndOfLine()) this.#next();
  }
}
