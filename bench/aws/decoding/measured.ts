/** In a process of its own: reads a file of an answer again and again, and writes what that took as one line of JSON. */
import { readFileSync } from 'node:fs';
import { readProcessUsage, type ProcessUsage } from '../../process-usage.ts';

export interface Decoding {
  /** Before the first answer was there: the program and what it has loaded. */
  readonly loaded: ProcessUsage;
  /** CPU milliseconds of the process, the compilers' and the collector's threads too: of the first answer, and of each one after it. */
  readonly firstMs: number;
  readonly nextMs: readonly number[];
  readonly instances: number;
  readonly end: ProcessUsage;
}

/** `read` takes the answer as it comes from the network, and gives back how many instances it has. */
export async function measured(read: (answer: Buffer) => Promise<number>): Promise<void> {
  const [file = '', times = ''] = process.argv.slice(2);
  const answer = readFileSync(file);
  const loaded = readProcessUsage(process.pid);
  const each: number[] = [];
  let instances = 0;
  for (let time = 0; time < Number(times); time++) {
    const before = process.cpuUsage();
    instances = await read(answer);
    const { system, user } = process.cpuUsage(before);
    each.push((user + system) / 1_000);
  }
  const [firstMs = Number.NaN, ...nextMs] = each;
  const found: Decoding = { loaded, firstMs, nextMs, instances, end: readProcessUsage(process.pid) };
  console.log(JSON.stringify(found));
}
