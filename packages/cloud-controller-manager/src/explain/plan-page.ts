/** `/debug/plan`: what a dry run would do now. */
import type { Page } from '@outrigger/controller-manager';
import type { Foundation } from '../program/foundation.ts';

export function planPage({ clock, journal }: Pick<Foundation, 'clock' | 'journal'>): Page {
  return {
    path: '/debug/plan',
    answer: () => ({ body: { at: clock.now(), planned: journal.plans() } }),
  };
}
