/** `/flagz` and `/statusz`: KEP-4828 and KEP-4827, in their text form, which is for people and promises no format. */
import type { Clock } from '@outrigger/kube';
import { formatGoDuration } from '../flags/go-duration.ts';

const WARNING =
  'Warning: This endpoint is not meant to be machine parseable, has no formatting compatibility guarantees and is for debugging purposes only.';

export function renderFlagz(component: string, values: readonly (readonly [name: string, value: string])[]): string {
  return `\n${component} flagz\n${WARNING}\n\n${values.map(([name, value]) => `${name}=${value}\n`).join('')}`;
}

export interface Status {
  readonly component: string;
  /** When the process began, in milliseconds since the Unix epoch. */
  readonly startedAt: number;
  readonly clock: Clock;
  readonly version: string;
  /** The pages that are served, to be read: upstream's "read-only endpoints for debugging and troubleshooting". */
  readonly paths: readonly string[];
}

export function renderStatusz({ clock, component, paths, startedAt, version }: Status): string {
  const upMs = Math.max(0, Math.floor((clock.now() - startedAt) / 1_000) * 1_000);
  const lines = [
    `Started: ${new Date(startedAt).toISOString()}`,
    `Up: ${formatGoDuration(upMs)}`,
    `Node version: ${process.version}`,
    `Binary version: ${version}`,
    `Paths: ${paths.join(' ')}`,
  ];
  return `\n${component} statusz\n${WARNING}\n\n${lines.join('\n')}\n`;
}
