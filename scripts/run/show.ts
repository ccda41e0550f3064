/** What both demonstrations of `make run` say and wait for: the start, the end of an act, and why there is none. */
import { relative } from 'node:path';
import { resources, systemClock } from '@outrigger/kube';
import type { Act } from './acts.ts';
import type { Cluster } from './cluster.ts';
import type { Seen } from './follow.ts';
import { addressesOf, labelOf, podCIDRsOf } from './node-story.ts';
import type { Program } from './program.ts';
import { renderTable, seconds, type Screen } from './screen.ts';

export interface Limits {
  /** Aborted after `limitMs`. */
  readonly deadline: AbortSignal;
  readonly limitMs: number;
  /** Aborted by Ctrl-C. */
  readonly stop: AbortSignal;
  /** The file of the program's log. */
  readonly log: string;
}

/** Nodes join a cluster whose manager is there: their times are then those of the work, not of its start. */
export async function leading(
  { client }: Cluster,
  program: Program,
  { deadline, limitMs, log, stop }: Limits,
): Promise<void> {
  const signal = AbortSignal.any([stop, deadline]);
  let ended: number | undefined;
  void program.ended.then((code) => (ended = code));
  const ref = { namespace: 'kube-system', name: 'cloud-controller-manager' };
  for (;;) {
    const lease = await client
      .of(resources.leases)
      .get(ref, { signal })
      .catch(() => undefined);
    if (lease?.spec?.holderIdentity) break;
    if (ended !== undefined || deadline.aborted) {
      const why = ended === undefined ? `does not lead after ${limitMs / 1_000} s` : `ended with exit code ${ended}`;
      throw new Error(`the program ${why}; the end of ${short(log)}:\n${program.lastLines(8).join('\n')}`);
    }
    await systemClock.sleep(20, stop);
  }
}

/** `undefined` when the act is over, else why it cannot be. */
export async function outcome(
  over: Promise<void>,
  seen: Seen,
  program: Program,
  { deadline, limitMs, stop }: Limits,
): Promise<string | undefined> {
  try {
    return await Promise.race([
      over.then(() => undefined),
      seen.failed,
      program.ended.then((code) => `the program ended with exit code ${code}`),
    ]);
  } catch (error) {
    stop.throwIfAborted();
    if (deadline.aborted) return `not all has converged within ${limitMs / 1_000} s`;
    throw error;
  }
}

export function introduce(screen: Screen, what: string, where: string, how: string): void {
  screen.line(`  ${screen.bold(what.padEnd(11))} ${how === '' ? where : `${where.padEnd(25)} ${screen.dim(how)}`}`);
}

export function summarise(screen: Screen, { initialisedAfter, nodes }: Seen): void {
  const rows = [...nodes].map(([name, node]) => [
    name,
    node.spec?.providerID ?? '',
    labelOf(node, 'topology.kubernetes.io/zone'),
    addressesOf(node).replaceAll(/[A-Za-z]+IP /gu, ''),
    podCIDRsOf(node),
    seconds(initialisedAfter.get(name) ?? 0).trim(),
  ]);
  screen.line();
  const [head = '', ...lines] = renderTable([
    ['NODE', 'PROVIDER ID', 'ZONE', 'ADDRESSES', 'POD CIDR', 'INITIALISED'],
    ...rows,
  ]);
  screen.line(`  ${screen.dim(head)}`);
  for (const line of lines) screen.line(`  ${line}`);
}

export function explain(
  screen: Screen,
  why: string,
  act: Act | undefined,
  { log, program }: { readonly program: Program; readonly log: string },
): void {
  screen.line(screen.red(`\n  ${why}`));
  for (const missing of act?.missing() ?? []) screen.line(`  ${missing}`);
  screen.line(screen.dim(`\n  the end of ${short(log)}:`));
  for (const line of program.lastLines(8)) screen.line(`  ${line}`);
}

export function short(path: string): string {
  const name = relative(process.cwd(), path);
  return name.startsWith('..') ? path : name;
}
