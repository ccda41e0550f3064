/** Routes, and the plan for them, in sentences. Pure. */
import type { Route } from '@outrigger/cloud-provider';
import type { Fact } from '../finding.ts';
import type { NotedAction, Subject } from '../journal.ts';
import type { CreateRoute, DeleteRoute, KeptRoutes } from './planned-route.ts';

const REASONS: Readonly<Record<DeleteRoute['reason'], string>> = {
  'node-gone': 'no node has its destination any more',
  'wrong-target': 'it leads to another machine than that of the node which has its destination',
  blackhole: 'it leads nowhere',
};

export function subjectOfCreate({ destination, node }: CreateRoute): Subject {
  return { kind: 'Route', name: destination, uid: node.metadata?.uid ?? '' };
}

export function subjectOfDelete({ node, route }: DeleteRoute): Subject {
  return { kind: 'Route', name: route.destination, uid: node?.metadata?.uid ?? '' };
}

export function notedCreate({ destination, node }: CreateRoute): NotedAction {
  return { kind: 'create-route', summary: `create the route ${destination} to node ${node.metadata?.name ?? ''}` };
}

export function notedDelete({ reason, route }: DeleteRoute): NotedAction {
  return { kind: 'delete-route', summary: `delete the route ${route.id} of ${route.destination}: ${REASONS[reason]}` };
}

/** The name of its node, else what the cloud says of its machine. */
export function targetOf({ nextHops, targetNodeName, targetProviderID }: Route): string {
  return targetNodeName ?? targetProviderID ?? nextHops?.join(', ') ?? 'an unknown machine';
}

export function factOfRoute(route: Route, isOurs: boolean, agoMs: number): Fact {
  const { blackhole, destination, id } = route;
  const where = blackhole ? 'is a blackhole: its machine does not exist' : `leads to ${targetOf(route)}`;
  const whose = isOurs ? 'this cluster created it' : 'this cluster did not create it and ignores it';
  return {
    text: `The cloud has ${id === '' ? 'a route' : `the route ${id}`} of ${destination}: it ${where}; ${whose}.`,
    agoMs,
  };
}

export function factOfKept({ nodes }: KeptRoutes): Fact {
  const names = nodes.map(({ metadata }) => metadata?.name ?? '').join(', ');
  return {
    text: `It belongs to no known node and is kept: it may belong to ${names}, without an address or a pod CIDR yet.`,
  };
}
