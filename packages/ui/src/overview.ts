/** A judged cluster as the lines of the overview. Pure. */
import type { ClusterStatus, Reading } from '@outrigger/status';
import type { StatusItem } from './view-types.ts';

export function itemsOf(status: ClusterStatus): readonly StatusItem[] {
  return [
    item('Leader', status.leader, ({ holder, holds, lease }) =>
      holds ? ok(`${holder} (${lease})`) : bad(`no program holds the Lease ${lease}`),
    ),
    item('Version', status.process, ({ version }) => ok(version ?? 'not reported')),
    item('Controllers', status.process, ({ controllers }) => ok(controllers.join(', ') || 'none')),
    item('Health', status.health, ({ failing, ready }) =>
      ready ? ok('ready') : bad(`failing: ${failing.join(', ')}`),
    ),
    item('Cloud', status.clouds, (clouds) => {
      const silent = clouds.filter(({ answers }) => !answers);
      const names = new Set(clouds.map(({ provider }) => provider));
      if (silent.length === 0) return ok(names.size === 0 ? 'not asked yet' : `${[...names].join(', ')}: answers`);
      return bad(silent.map(({ code = 'error', provider, service }) => `${provider} ${service}: ${code}`).join('; '));
    }),
    item('Held back', status.deletions, ({ held, unproved }) =>
      held === 0 ? ok('no node deletion') : bad(`${held} node deletions delayed, ${unproved} need a decision`),
    ),
    item('Webhooks', status.webhooks, (all) => ok(all.length === 0 ? 'none' : `${all.length}`)),
  ].flat();
}

type Told = Omit<StatusItem, 'name'>;

const ok = (text: string): Told => ({ state: 'ok', text });
const bad = (text: string): Told => ({ state: 'error', text });

/** What a program cannot report is left out. */
function item<T>(name: string, reading: Reading<T>, tell: (value: T) => Told): readonly StatusItem[] {
  if ('value' in reading) return [{ name, ...tell(reading.value) }];
  if ('unknown' in reading) return [{ name, state: 'unknown', text: `unknown: ${reading.unknown}` }];
  return [];
}
