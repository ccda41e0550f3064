/** One line in klog's text format: `I1120 16:00:00.000000   12345 node] "Initialised" node="a"`. */
import type { LogValue } from './log-value.ts';

export type Severity = 'I' | 'W' | 'E';

export interface KlogRecord {
  readonly severity: Severity;
  /** Milliseconds since the Unix epoch. */
  readonly time: number;
  readonly pid: number;
  /** Stands where klog has `file:line`: which part of the program speaks. */
  readonly component: string;
  readonly message: string;
  readonly fields: Readonly<Record<string, LogValue>>;
}

/** With the newline. Times are UTC, so that lines of several machines can be laid side by side. */
export function renderKlogLine({ severity, time, pid, component, message, fields }: KlogRecord): string {
  const stamp = new Date(time).toISOString();
  const micros = String(Math.floor((time % 1) * 1_000)).padStart(3, '0');
  const head = `${severity}${stamp.slice(5, 7)}${stamp.slice(8, 10)} ${stamp.slice(11, 23)}${micros} ${String(pid).padStart(7)} ${component}]`;
  let line = `${head} ${JSON.stringify(message)}`;
  for (const [key, value] of Object.entries(fields)) line += ` ${key}=${JSON.stringify(value)}`;
  return `${line.replaceAll(CONTROL, escaped)}\n`;
}

/** Those that JSON leaves as they are, and some terminals obey. */
const CONTROL = /[\u007f-\u009f]/gu;

const escaped = (character: string): string => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
