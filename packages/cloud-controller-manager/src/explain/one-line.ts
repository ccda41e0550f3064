/** Text of a cluster for a person's terminal: many can write what an Event or an annotation says. */

/** Without line ends and escape sequences: neither does it look like lines of ours, nor does it tell the terminal to do anything. */
export function oneLine(text: string): string {
  return text.replaceAll(/\p{Cc}+/gu, ' ');
}
