/** What a subject wrote, made fit to be shown: in a terminal, in XML and in HTML. */
import { stripVTControlCharacters } from 'node:util';

/** XML 1.0 has no way to write these, not even escaped: https://www.w3.org/TR/xml/#charsets */
// oxlint-disable-next-line no-control-regex
const NOT_IN_XML = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u0084\u0086-\u009f\ufffe\uffff]/gu;

/** Without colours, with U+FFFD in the place of each control character and of half a surrogate pair. Lines and tabs stay. */
export function printable(text: string): string {
  return stripVTControlCharacters(text)
    .toWellFormed()
    .replaceAll('\r\n', '\n')
    .replaceAll('\r', '\n')
    .replaceAll(NOT_IN_XML, '\ufffd');
}

/** The same on one line, as a name or a reason has to be. */
export function printableLine(text: string): string {
  return printable(text).replaceAll(/\s+/gu, ' ').trim();
}
