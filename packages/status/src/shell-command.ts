/** Command lines to paste, with words that others wrote in them. */

/** Where a shell reads nothing but itself. */
const PLAIN = /^[\w./:=@%+,-]+$/u;

/** A tag of templates: quotes each word that is put in for a POSIX shell. */
export function shell(texts: TemplateStringsArray, ...words: readonly (string | number)[]): string {
  return String.raw({ raw: texts }, ...words.map((word) => quoted(String(word))));
}

function quoted(word: string): string {
  return PLAIN.test(word) ? word : `'${word.replaceAll("'", String.raw`'\''`)}'`;
}
