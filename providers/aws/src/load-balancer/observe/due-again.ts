/**
 * When what is remembered is read again. Each ID has its own moment of a period: what was there at the start, or what one look has read, is not
 * due in one look again, in which all of its Services would wait for the reads.
 */
import { hashOf } from '../names.ts';

/** Times by the monotonic clock. True at the latest when a period has passed. Pure. */
export function isDueAgain(id: string, readAt: number, now: number, periodMs: number): boolean {
  const offset = Number.parseInt(hashOf(id).slice(0, 12), 16) % periodMs;
  const turnOf = (at: number): number => Math.floor((at + offset) / periodMs);
  return turnOf(readAt) < turnOf(now);
}
