/** `/debug/plan`: what a dry run would do now. */
import type { Page } from '@outrigger/controller-manager';
import type { Foundation } from '../program/foundation.ts';

/** RFC 3339, as Kubernetes writes times. */
function timeOf(ms: number): string {
  return new Date(ms).toISOString();
}

export function planPage({ clock, journal }: Pick<Foundation, 'clock' | 'journal'>): Page {
  return {
    path: '/debug/plan',
    answer: () => ({
      body: {
        at: timeOf(clock.now()),
        planned: journal.plans().map(({ since, ...plan }) => ({ ...plan, since: timeOf(since) })),
      },
    }),
  };
}
