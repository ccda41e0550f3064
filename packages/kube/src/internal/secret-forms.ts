/** As what bytes a secret may stand in a text, beside the escapes that `decodedTexts` undoes. */
import { decodedTexts } from './decoded-text.ts';

export interface SecretForm {
  readonly bytes: Buffer;
  /** Counts only where no letter or digit is beside it. */
  readonly wholeWord: boolean;
  /** Its first and last characters carry a part of the bytes beside them: so many characters more are masked at each end. */
  readonly margin: number;
}

/** A shorter secret is looked for as it is alone: its base64 would be found in many a text by chance. */
const SHORTEST_ENCODED = 6;
/** Of a secret of several lines, such as a private key, each line so long is one too. */
const SHORTEST_LINE = 6;

export function formsOfSecret(secret: string, wholeWord: boolean): readonly SecretForm[] {
  const texts = new Set([secret]);
  if (secret.includes('\n')) {
    // The first and the last line of a PEM block are those of all of them.
    const lines = secret.split('\n').map((line) => line.trim());
    for (const line of lines) if (line.length >= SHORTEST_LINE && !line.startsWith('-----')) texts.add(line);
  }
  return [...texts].flatMap((text) => formsOfText(text, wholeWord));
}

function formsOfText(text: string, wholeWord: boolean): readonly SecretForm[] {
  const form = (value: string, margin = 0): SecretForm => ({ bytes: Buffer.from(value), wholeWord, margin });
  const forms = [form(text)];
  const bytes = Buffer.from(text);
  if (bytes.length < SHORTEST_ENCODED) return forms;
  // As a form of HTML sends it; the other characters are percent-encoded.
  if (text.includes(' ')) forms.push(form(text.replaceAll(' ', '+')));
  // One that looks like an escape itself is undone together with the escapes of the text in which it stands.
  for (const decoded of decodedTexts(text)) {
    if (decoded.places && decoded.bytes.length >= SHORTEST_ENCODED) {
      forms.push({ bytes: decoded.bytes, wholeWord, margin: 0 });
    }
  }
  const hex = bytes.toString('hex');
  forms.push(form(hex));
  if (/[a-f]/u.test(hex)) forms.push(form(hex.toUpperCase()));
  for (let offset = 0; offset < 3; offset++) {
    const core = base64Core(bytes, offset);
    forms.push(form(core, 1));
    const url = core.replaceAll('+', '-').replaceAll('/', '_');
    if (url !== core) forms.push(form(url, 1));
  }
  return forms;
}

/** What is the same in the base64 of every text in which the bytes stand `offset` bytes behind a multiple of three. */
function base64Core(bytes: Buffer, offset: number): string {
  const whole = Buffer.concat([Buffer.alloc(offset), bytes]);
  const text = whole.toString('base64').replace(/={1,2}$/u, '');
  const end = whole.length % 3 === 0 ? text.length : text.length - 1;
  return text.slice([0, 2, 3][offset], end);
}
