/** What would become of each load balancer: the plans of Services, as the manager would carry them out. Pure. */
import { summaryOf } from '@outrigger/cloud-runtime';
import type { PreviewedService } from '@outrigger/controllers';
import { missing, ok, unknown, type Check } from './check.ts';
import type { Seen } from './observed-cluster.ts';

export function judgePlans({ plans }: Seen<'plans'>): readonly Check[] {
  if (!plans.known) {
    const todo =
      'give --cloud-provider and --cloud-config as the program will have them, and credentials that may read';
    return [unknown(`the plans of Services could not be made: ${plans.why}`, todo)];
  }
  const same = plans.value.filter(({ outcome, warnings }) => outcome === 'unchanged' && warnings.length === 0);
  const taken = same.filter(({ actions }) => actions.length > 0).length;
  const all = ok(
    `${same.length} of ${plans.value.length} Services keep what they have, ${taken} of them are taken over`,
  );
  return [all, ...plans.value.filter((one) => !same.includes(one)).map(judgePlan)];
}

function judgePlan({ actions, isServed, name, outcome, warnings, why = '' }: PreviewedService): Check {
  const lines = [...actions.map((action) => summaryOf(action)), ...warnings.map((one) => `Warning: ${one}`)];
  switch (outcome) {
    case 'unchanged':
      return ok(`${name} keeps what it has`, lines);
    case 'refused':
      return missing(
        `${name} would be refused: ${why}`,
        'change the Service, or the cloud config; what it has stays until then, and its members follow the nodes',
        lines,
      );
    case 'unknown':
      return unknown(
        `the plan for ${name} could not be determined: ${why}`,
        'correct that and run the check again',
        lines,
      );
    default:
      return isServed && actions.some(({ kind }) => kind === 'create' || kind === 'delete')
        ? missing(
            `${name} is served, and parts of it would be made or deleted`,
            'traffic may be cut then: see that this is meant, or change the Service or the cloud config',
            lines,
          )
        : ok(`${name} would be changed`, lines);
  }
}
