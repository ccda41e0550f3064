/** `/debug/plan`: what a dry run would do now. */
import type { Page } from '@outrigger/controller-manager';
import type { Foundation } from '../program/foundation.ts';

export const PLAN_PATH = '/debug/plan';

/** RFC 3339, as Kubernetes writes times. */
function timeOf(ms: number): string {
  return new Date(ms).toISOString();
}

export function planPage({ clock, journal }: Pick<Foundation, 'clock' | 'journal'>): Page {
  return {
    path: PLAN_PATH,
    answer: () => ({
      body: {
        at: timeOf(clock.now()),
        planned: journal.plans().map(({ since, ...plan }) => ({ ...plan, since: timeOf(since) })),
      },
    }),
  };
}
