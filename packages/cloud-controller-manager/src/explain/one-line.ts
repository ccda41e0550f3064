/** Text of a cluster for a person's terminal: many can write what an Event or an annotation says. */

/** Without line ends, escape sequences and turns of direction: neither does it look like lines of ours, nor does it tell the terminal to do anything. */
export function oneLine(text: string): string {
  return text.replaceAll(/[\p{Cc}\p{Bidi_Control}]+/gu, ' ');
}

/** Indented JSON, and a line end. What JSON may leave as it is, and a terminal would act on, is escaped too. */
export function jsonText(value: object): string {
  const text = JSON.stringify(value, undefined, 2);
  const escaped = text.replaceAll(
    /[\u007F-\u009F\p{Bidi_Control}]/gu,
    (one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
  return `${escaped}\n`;
}
