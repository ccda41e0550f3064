/** Members of an answer that has to have them. */
import { Failure } from './failure.ts';

/** Throws `bad-answer`. */
export function textIn(answer: Readonly<Record<string, unknown>>, member: string, service: string): string {
  const value = answer[member];
  if (typeof value === 'string' && value !== '') return value;
  throw new Failure('bad-answer', `the answer of ${service} has no ${member}`);
}

/** When a token ends, by the seconds that an answer says that it lives: a number, or in Azure a text. `undefined`: it does not say. */
export function endBySeconds(value: unknown, now: number): number | undefined {
  const seconds = typeof value === 'string' ? Number(value) : value;
  return typeof seconds === 'number' && Number.isFinite(seconds) && seconds > 0 ? now + seconds * 1_000 : undefined;
}
