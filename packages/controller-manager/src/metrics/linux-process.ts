/** What Go's process collector shows of a process on Linux and the client library does not: the limit of its memory, and the traffic of its network. */
import { readFileSync } from 'node:fs';
import * as prometheus from '@prometheus-io/client';

/** As Go shows that there is no limit: the largest number of 64 bits. */
const UNLIMITED = 2 ** 64;

/** `root`: where Linux shows the process. Without it, nothing is registered. */
export function collectLinuxProcess(registry: prometheus.Registry, root = '/proc/self'): void {
  const read = (file: string): string => readFileSync(`${root}/${file}`, 'utf8');
  const limit = addressSpaceLimitOf(readOrNothing(() => read('limits')));
  if (limit !== undefined) {
    new prometheus.Gauge({
      name: 'process_virtual_memory_max_bytes',
      help: 'Maximum amount of virtual memory available in bytes.',
      registers: [registry],
    }).set(limit);
  }
  const octets = (): Octets | undefined => octetsOf(readOrNothing(() => read('net/netstat')));
  if (octets() === undefined) return;
  for (const [name, help, direction] of [
    ['process_network_receive_bytes_total', 'Number of bytes received by the process over the network.', 'InOctets'],
    ['process_network_transmit_bytes_total', 'Number of bytes sent by the process over the network.', 'OutOctets'],
  ] as const) {
    const counter: prometheus.Counter = new prometheus.Counter({
      name,
      help,
      registers: [registry],
      collect: () => {
        const now = octets()?.[direction];
        if (now === undefined) return;
        counter.reset();
        counter.inc(now);
      },
    });
  }
}

interface Octets {
  readonly InOctets: number;
  readonly OutOctets: number;
}

function addressSpaceLimitOf(limits: string): number | undefined {
  const soft = /^Max address space\s+(\S+)/mu.exec(limits)?.[1];
  return soft === 'unlimited' ? UNLIMITED : soft === undefined ? undefined : Number(soft);
}

/** Pairs of lines: names, and below them values. The network is the namespace's, which is the pod's. */
function octetsOf(netstat: string): Octets | undefined {
  const [names = [], values = []] = [...netstat.matchAll(/^IpExt: (.*)$/gmu)].map(([, line = '']) => line.split(' '));
  const valueOf = (name: string): number => Number(values[names.indexOf(name)]);
  const found = { InOctets: valueOf('InOctets'), OutOctets: valueOf('OutOctets') };
  return Number.isFinite(found.InOctets) && Number.isFinite(found.OutOctets) ? found : undefined;
}

function readOrNothing(read: () => string): string {
  try {
    return read();
  } catch {
    return '';
  }
}
