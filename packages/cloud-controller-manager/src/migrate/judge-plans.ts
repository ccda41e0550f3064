/** What would become of each load balancer: the plans of Services, as the manager would carry them out. Pure. */
import { summaryOf } from '@outrigger/cloud-runtime';
import type { PreviewedService } from '@outrigger/controllers';
import { missing, ok, unknown, type Check } from './check.ts';
import type { Seen } from './observed-cluster.ts';

/** Lines of their own, of one namespace and one state. */
const MOST_OF_NAMESPACE = 20;

export function judgePlans({ plans }: Seen<'plans'>): readonly Check[] {
  if (!plans.known) {
    const todo =
      'give --cloud-provider and --cloud-config as the program will have them, and credentials that may read';
    return [unknown(`the plans of Services could not be made: ${plans.why}`, todo)];
  }
  const isSame = ({ outcome, warnings }: PreviewedService): boolean => outcome === 'unchanged' && warnings.length === 0;
  const same = plans.value.filter((one) => isSame(one));
  const taken = same.filter(({ actions }) => actions.length > 0).length;
  const all = ok(
    `${same.length} of ${plans.value.length} Services keep what they have, ${taken} of them are taken over`,
  );
  const judged = plans.value.filter((one) => !isSame(one)).map((one) => ({ name: one.name, check: judgePlan(one) }));
  const alike = [...Map.groupBy(judged, ({ check, name }) => `${check.state} ${namespaceOf(name)}`).values()];
  const shown = new Set(alike.flatMap((those) => those.slice(0, MOST_OF_NAMESPACE)));
  const rest = alike.flatMap((those) => restOf(those.slice(MOST_OF_NAMESPACE)));
  return [all, ...judged.filter((one) => shown.has(one)).map(({ check }) => check), ...rest];
}

const namespaceOf = (name: string): string => name.split('/', 1)[0] ?? '';

/** Of one namespace, judged alike: whoever may make thousands hides none of another. */
function restOf(those: readonly { readonly name: string; readonly check: Check }[]): readonly Check[] {
  const [first] = those;
  if (!first) return [];
  const names = those.map(({ name }) => name);
  const text = `${those.length} more Services of namespace ${namespaceOf(first.name)} are like those above`;
  const todo = 'run the check again when those are corrected';
  const { state } = first.check;
  return [state === 'ok' ? ok(text, names) : { missing, unknown }[state](text, todo, names)];
}

function judgePlan({ actions, isServed, name, outcome, warnings, why = '' }: PreviewedService): Check {
  const lines = [
    ...actions.map((action) => `${summaryOf(action)}${action.mayCutTraffic ? ' (may cut traffic)' : ''}`),
    ...warnings.map((one) => `Warning: ${one}`),
  ];
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
    default: {
      const cut = isServed ? cutBy(actions) : undefined;
      if (cut === undefined) return ok(`${name} would be changed`, lines);
      return missing(
        `${name} is served, and ${cut}`,
        'traffic may be cut then: see that this is meant, or change the Service or the cloud config',
        lines,
      );
    }
  }
}

function cutBy(actions: PreviewedService['actions']): string | undefined {
  if (actions.some(({ kind }) => kind === 'create' || kind === 'delete')) return 'parts of it would be made or deleted';
  if (!actions.some(({ mayCutTraffic }) => mayCutTraffic)) return undefined;
  return 'a listener, a rule or a member of it would be removed';
}
