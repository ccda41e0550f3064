/** Times as objects and the status have them: RFC 3339 in UTC. */

export function timeOf(ms: number): string {
  return new Date(ms).toISOString();
}

/** `undefined` for what is no time. */
export function millisecondsOf(time: string | undefined): number | undefined {
  const ms = Date.parse(time ?? '');
  return Number.isNaN(ms) ? undefined : ms;
}

/** Whole ones. */
export function secondsOf(ms: number): number {
  return Math.max(0, Math.floor(ms / 1000));
}
