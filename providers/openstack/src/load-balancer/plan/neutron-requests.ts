/** Neutron's requests, as data. */
import type { Owner } from '@outrigger/cloud-provider';
import { itemKeyOf, operation } from '../../client/operation.ts';
import type { MarkedCollection } from '../observed-tree.ts';
import type { ChangeOf, PlannedRequest } from './change.ts';

type Collection = MarkedCollection | 'security-group-rules';
type Body = Readonly<Record<string, unknown>>;

export function postNeutron(collection: Collection, body: Body): PlannedRequest {
  return { ...operation('network', `POST /v2.0/${collection}`), body: { [itemKeyOf(collection)]: body } };
}

export function putNeutron(collection: Collection, id: string, body: Body): PlannedRequest {
  return { ...operation('network', `PUT /v2.0/${collection}/{id}`, id), body: { [itemKeyOf(collection)]: body } };
}

export function deletionOf(collection: Collection, id: string): ChangeOf<'neutron'> {
  return { op: 'neutron', request: operation('network', `DELETE /v2.0/${collection}/{id}`, id) };
}

export function markChange(
  collection: MarkedCollection,
  id: string,
  description: string,
  owner: Owner | null,
): ChangeOf<'mark'> {
  return { op: 'mark', collection, id, request: putNeutron(collection, id, { description }), owner };
}
