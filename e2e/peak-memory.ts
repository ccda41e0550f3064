/** What a process has in memory at most, from one question to the next (Linux: /proc). */
import { writeFileSync } from 'node:fs';
import { readProcessUsage } from '../bench/process-usage.ts';

export class PeakMemory {
  readonly #pid: number;

  constructor(pid: number) {
    this.#pid = pid;
  }

  /** Resident, in MiB; counts anew. */
  take(): number {
    const { peakRssMiB } = readProcessUsage(this.#pid);
    writeFileSync(`/proc/${this.#pid}/clear_refs`, '5');
    return peakRssMiB;
  }
}
