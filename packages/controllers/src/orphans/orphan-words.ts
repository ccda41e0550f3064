/** Orphans, and what becomes of them, in sentences. Pure. */
import type { EventNote } from '@outrigger/kube';
import type { Fact } from '../finding.ts';
import type { NotedAction, Subject } from '../journal.ts';
import { factOfRoute } from '../route/route-words.ts';
import { factsOfParts } from '../load-balancer/load-balancer-words.ts';
import type { Orphan, OrphanKind } from './orphan.ts';
import { mayGo, type HeldOrphans, type OrphanPlan } from './plan.ts';

/** An Event keeps 1,024 bytes: the log has all of them. */
const NAMED = 4;

const WORDS: Readonly<Record<OrphanKind, { readonly one: string; readonly many: string; readonly of: string }>> = {
  'load-balancer': { one: 'load balancer', many: 'load balancers', of: 'Service' },
  route: { one: 'route', many: 'routes', of: 'node' },
};

/** `dns dns-4 and address address-1, of the Service with UID 5f0c`. */
export function nameOfOrphan(orphan: Orphan, providerName = 'this provider'): string {
  if (orphan.kind === 'load-balancer') {
    const left = orphan.isLeft
      ? `, which exists, and which ${providerName} does not serve: delete it by hand if no other program does`
      : '';
    return `${orphan.parts.map(({ id, kind }) => `${kind} ${id}`).join(', ')} (of the Service with UID ${orphan.uid}${left})`;
  }
  const { destination, id, targetNodeName, targetProviderID } = orphan.route;
  return `${id} (${destination} to ${targetNodeName ?? targetProviderID ?? 'a machine that is gone'})`;
}

export function orphansNote(
  kind: OrphanKind,
  orphans: readonly Orphan[],
  { idle }: Pick<OrphanPlan, 'idle'>,
  providerName: string,
): EventNote {
  const { many, of, one } = WORDS[kind];
  const named = orphans
    .slice(0, NAMED)
    .map((one) => nameOfOrphan(one, providerName))
    .join('; ');
  const more = orphans.length > NAMED ? `; and ${orphans.length - NAMED} more, which the log names` : '';
  const what =
    orphans.length === 1 ? `1 ${one} of this cluster belongs` : `${orphans.length} ${many} of this cluster belong`;
  return {
    type: 'Warning',
    reason: kind === 'route' ? 'OrphanedRoutes' : 'OrphanedLoadBalancers',
    message: `${what} to no ${of} any more. ${NEXT[idle ?? (orphans.some(mayGo) ? 'delete' : 'left')]} ${named}${more}.`,
  };
}

const NEXT: Readonly<Record<NonNullable<OrphanPlan['idle']> | 'delete' | 'left', string>> = {
  'report-only': 'Remove what is not needed in the cloud, or set --orphan-policy=delete:',
  'grace-period': 'Removed once this program has been the leader for --orphan-grace-period:',
  delete: 'Being removed, because of --orphan-policy:',
  left: 'Not removed while its Service exists:',
};

export function heldNote({ kind, orphaned, owned }: HeldOrphans): EventNote {
  const { many, of } = WORDS[kind];
  return {
    type: 'Warning',
    reason: 'OrphanRemovalHeld',
    message: `${orphaned} of ${owned} ${many} appear to belong to no ${of}. None is removed: this also happens when the API server was restored from a backup, and they may be in use. Delete by hand what is not needed, or raise --orphan-max-fraction.`,
  };
}

export function removedNote(orphan: Orphan): EventNote {
  return {
    type: 'Normal',
    reason: 'OrphanRemoved',
    message: `Removed an orphan: ${nameOfOrphan(orphan)}.`,
  };
}

export function removalFailedNote(orphan: Orphan, why: string): EventNote {
  return {
    type: 'Warning',
    reason: 'OrphanRemovalFailed',
    message: `An orphan could not be removed, and is retried in the next pass: ${nameOfOrphan(orphan)}: ${why}. Correct what the error names, or delete it by hand.`,
  };
}

export function subjectOfOrphan(orphan: Orphan): Subject {
  if (orphan.kind === 'route') return { kind: 'Route', name: orphan.route.destination, uid: '' };
  return { kind: 'LoadBalancerPart', name: orphan.uid, uid: orphan.uid };
}

export function notedRouteRemoval({
  id,
  destination,
}: {
  readonly id: string;
  readonly destination: string;
}): NotedAction {
  return {
    kind: 'delete-route',
    summary: `delete the route ${id} of ${destination}: it belongs to no node`,
  };
}

/** Whether a person means this one: by the UID of the Service, a part (`kind/id`), or the ID or destination of the route. */
export function isNamed(orphan: Orphan, name: string): boolean {
  if (orphan.kind === 'route') return [orphan.route.id, orphan.route.destination].includes(name);
  return orphan.uid === name || orphan.parts.some(({ id, kind }) => [id, `${kind}/${id}`].includes(name));
}

export function factsOfOrphan(orphan: Orphan, agoMs: number): readonly Fact[] {
  return orphan.kind === 'route' ? [factOfRoute(orphan.route, true, agoMs)] : factsOfParts(orphan.parts, agoMs);
}

export function plannedFact(orphan: Orphan, plan: OrphanPlan): Fact {
  if (!plan.orphans.includes(orphan))
    return { text: 'None yet: it is removed only if the next pass finds it orphaned too.' };
  if (!mayGo(orphan)) return { text: 'Only reported: its Service exists, and may be served again.' };
  if (plan.removals.includes(orphan)) return { text: 'Remove it.' };
  if (plan.idle === 'report-only') return { text: 'Only reported, because of --orphan-policy.' };
  if (plan.idle === 'grace-period')
    return { text: 'None until this program has been the leader for --orphan-grace-period.' };
  if (plan.held.some(({ kind }) => kind === orphan.kind)) {
    return { text: 'None: more resources appear to be orphaned than --orphan-max-fraction allows.' };
  }
  return { text: 'Remove it in a later pass, because of --orphan-max-deletions.' };
}
