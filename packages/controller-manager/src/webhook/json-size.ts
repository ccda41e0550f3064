/** How much a JSON text holds, found without parsing it: `[],` is three bytes of text, and forty of memory once it is parsed. */

export interface JsonSize {
  /** Keys, values and what holds them; at least as many as there are. */
  readonly values: number;
  /** Arrays and objects inside of one another. */
  readonly depth: number;
}

const [QUOTE, BACKSLASH, COMMA, COLON] = [0x22, 0x5c, 0x2c, 0x3a];
const [OPEN_ARRAY, CLOSE_ARRAY, OPEN_OBJECT, CLOSE_OBJECT] = [0x5b, 0x5d, 0x7b, 0x7d];

/** Of what is no JSON it says something too: the parser refuses that. */
export function sizeOfJson(text: Buffer): JsonSize {
  let [values, depth, deepest] = [1, 0, 0];
  for (let at = 0; at < text.length; at++) {
    const byte = text[at];
    if (byte === QUOTE) {
      at = endOfString(text, at);
    } else if (byte === COMMA || byte === COLON) {
      values += 1;
    } else if (byte === OPEN_ARRAY || byte === OPEN_OBJECT) {
      values += 1;
      depth += 1;
      deepest = Math.max(deepest, depth);
    } else if (byte === CLOSE_ARRAY || byte === CLOSE_OBJECT) {
      depth -= 1;
    }
  }
  return { values, depth: deepest };
}

/** Where the quote is that ends it, or the end of the text. */
function endOfString(text: Buffer, start: number): number {
  for (let from = start + 1; ;) {
    const quote = text.indexOf(QUOTE, from);
    if (quote === -1) return text.length;
    let first = quote;
    while (text[first - 1] === BACKSLASH && first - 1 > start) first -= 1;
    if ((quote - first) % 2 === 0) return quote;
    from = quote + 1;
  }
}
