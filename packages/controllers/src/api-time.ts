/** Times as the API has them (`metav1.Time`): in whole seconds. Pure. */

/** `ms`: since the Unix epoch. */
export function apiTime(ms: number): string {
  return new Date(ms).toISOString().replace(/\.\d+Z$/u, 'Z');
}
