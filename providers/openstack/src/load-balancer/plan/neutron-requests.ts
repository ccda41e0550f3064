/** Neutron's requests, as data. */
import type { Owner } from '@outrigger/cloud-provider';
import { itemKeyOf, operation } from '../../client/operation.ts';
import type { MarkedCollection, ObservedFloatingIP } from '../observed-tree.ts';
import type { ChangeOf, PlannedRequest } from './change.ts';

type Collection = MarkedCollection | 'security-group-rules';
type Body = Readonly<Record<string, unknown>>;

export function postNeutron(collection: Collection, body: Body): PlannedRequest {
  return { ...operation('network', `POST /v2.0/${collection}`), body: { [itemKeyOf(collection)]: body } };
}

function putNeutron(collection: Collection, id: string, body: Body): PlannedRequest {
  return { ...operation('network', `PUT /v2.0/${collection}/{id}`, id), body: { [itemKeyOf(collection)]: body } };
}

export function deletionOf(collection: Collection, id: string): ChangeOf<'neutron'> {
  return { op: 'neutron', request: operation('network', `DELETE /v2.0/${collection}/{id}`, id) };
}

/** Onto a port, or off it. `fixedIP`: which of the port's addresses, where it has several. */
export function floatingIPMove(
  one: ObservedFloatingIP,
  portId: string | null,
  fixedIP?: string,
): ChangeOf<'floating-ip'> {
  const body = { port_id: portId, ...(fixedIP !== undefined && { fixed_ip_address: fixedIP }) };
  return { op: 'floating-ip', id: one.id, portId, request: onRevision(one, putNeutron('floatingips', one.id, body)) };
}

export function floatingIPDeletion(one: ObservedFloatingIP): ChangeOf<'floating-ip'> {
  const { request } = deletionOf('floatingips', one.id);
  return { op: 'floating-ip', id: one.id, request: onRevision(one, request) };
}

const onRevision = ({ revision }: ObservedFloatingIP, request: PlannedRequest): PlannedRequest =>
  revision === undefined ? request : { ...request, revision };

export function markChange(
  collection: MarkedCollection,
  id: string,
  description: string,
  owner: Owner | null,
): ChangeOf<'mark'> {
  return { op: 'mark', collection, id, request: putNeutron(collection, id, { description }), owner };
}
