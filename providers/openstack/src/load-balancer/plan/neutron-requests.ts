/** Neutron's requests, as data. */
import type { Owner } from '@outrigger/cloud-provider';
import { operation } from '../../client/operation.ts';
import type { MarkedCollection } from '../observed-tree.ts';
import type { ChangeOf, PlannedRequest } from './change.ts';

const SINGULAR = {
  floatingips: 'floatingip',
  'security-groups': 'security_group',
  'security-group-rules': 'security_group_rule',
};
type Collection = keyof typeof SINGULAR;
type Body = Readonly<Record<string, unknown>>;

export function postNeutron(collection: Collection, body: Body): PlannedRequest {
  return { ...operation('network', `POST /v2.0/${collection}`), body: { [SINGULAR[collection]]: body } };
}

export function putNeutron(collection: Collection, id: string, body: Body): PlannedRequest {
  return { ...operation('network', `PUT /v2.0/${collection}/{id}`, id), body: { [SINGULAR[collection]]: body } };
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
