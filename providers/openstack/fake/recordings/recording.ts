/** What a real OpenStack (Zed) answered once: one request of a session that was recorded from the first to the last. */
import { readFile } from 'node:fs/promises';
import type { FakeService } from '../fake-http.ts';

export interface Recording {
  /** Its place in the session. */
  readonly step: number;
  readonly name: string;
  readonly service: FakeService;
  readonly method: string;
  /** Below the service's end point in the catalogue. */
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
  readonly status: number;
  /** Lists of more than six are cut to two in the answer. */
  readonly isCut?: boolean;
  readonly answer?: unknown;
}

const FILES = ['identity', 'compute', 'network', 'load-balancer'] as const;

export async function readRecordings(): Promise<readonly Recording[]> {
  const read = async (name: string): Promise<Recording[]> =>
    JSON.parse(await readFile(new URL(`${name}.json`, import.meta.url), 'utf8')) as Recording[];
  return (await Promise.all(FILES.map(read))).flat().sort((a, b) => a.step - b.step);
}
