/** What every controller is made from. */
import type { ControllerDependencies } from '@outrigger/controllers';
import type { LeaderContext } from './cloud-controller.ts';

/** Under its name it logs, and is in the journal; `eventSource`: and people see its Events. */
export function dependenciesOf(
  { client, clock, eventsOf, journal, logger, metrics, random }: LeaderContext,
  controller: string,
  eventSource: string = controller,
): Required<ControllerDependencies> {
  return {
    client,
    events: eventsOf(eventSource),
    clock,
    logger: logger.with({ controller }),
    metrics,
    random,
    journal: journal.of(controller),
  };
}
