/** What a process has used, by the kernel's own accounts (Linux: /proc). */
import { readFileSync } from 'node:fs';

export interface ProcessUsage {
  /** User and system time, in seconds. */
  readonly cpuSeconds: number;
  /** Resident set now, in MiB. */
  readonly rssMiB: number;
  /** Largest resident set so far, in MiB. */
  readonly peakRssMiB: number;
}

/** Clock ticks a second in /proc: USER_HZ, 100 on every Linux that Node runs on. */
const USER_HZ = 100;

/** Reads the accounts of a running process. Throws ENOENT when it is gone. */
export function readProcessUsage(pid: number): ProcessUsage {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  // The command name may hold spaces and parentheses: fields are counted from the last parenthesis.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const ticks = Number(fields[11]) + Number(fields[12]);
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  const mib = (line: RegExp): number => Number(line.exec(status)?.[1] ?? Number.NaN) / 1024;
  return {
    cpuSeconds: ticks / USER_HZ,
    rssMiB: mib(/^VmRSS:\s+(\d+) kB$/m),
    peakRssMiB: mib(/^VmHWM:\s+(\d+) kB$/m),
  };
}
