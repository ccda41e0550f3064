/** `Warning: 299 - "text"`, as API servers send it (RFC 7234 §5.5); several values may come joined by commas. */

const WARNING = /\b299 \S+ "((?:[^"\\]|\\.)*)"/g;

/** The texts of a Warning header. What is not of the API server's form is left out. */
export function warningsOf(header: string): string[] {
  return [...header.matchAll(WARNING)].map((match) => (match[1] ?? '').replaceAll(/\\(.)/g, '$1'));
}
