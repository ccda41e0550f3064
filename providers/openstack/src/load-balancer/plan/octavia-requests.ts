/** Octavia's requests, as data. */
import { itemKeyOf, operation } from '../../client/operation.ts';
import type { ObservedLoadBalancer } from '../observed-tree.ts';
import type { ChangeOf, PlannedRequest } from './change.ts';

type Collection = 'healthmonitors' | 'listeners' | 'loadbalancers' | 'pools';
type Body = Readonly<Record<string, unknown>>;

const SERVICE = 'load-balancer';
const ROOT = '/v2.0/lbaas';

export function postRequest(collection: Collection, body: Body): PlannedRequest {
  return { ...operation(SERVICE, `POST ${ROOT}/${collection}`), body: { [itemKeyOf(collection)]: body } };
}

export function putRequest(collection: Collection, id: string, body: Body): PlannedRequest {
  return { ...operation(SERVICE, `PUT ${ROOT}/${collection}/{id}`, id), body: { [itemKeyOf(collection)]: body } };
}

export function deleteRequest(collection: Collection, id: string): PlannedRequest {
  return operation(SERVICE, `DELETE ${ROOT}/${collection}/{id}`, id);
}

/** All members of a pool at once: those that are not in the list go. */
export function putMembersRequest(poolId: string, members: readonly Body[]): PlannedRequest {
  return { ...operation(SERVICE, `PUT ${ROOT}/pools/{id}/members`, poolId), body: { members } };
}

export function memberRequest(
  method: 'POST' | 'PUT' | 'DELETE',
  poolId: string,
  memberId: string | undefined,
  body?: Body,
): PlannedRequest {
  const path = `${method} ${ROOT}/pools/{id}/members` as const;
  const ids = memberId === undefined ? [poolId] : [poolId, memberId];
  return {
    ...operation(SERVICE, memberId === undefined ? path : `${path}/{id}`, ...ids),
    ...(body && { body: { member: body } }),
  };
}

type TagsChange = ChangeOf<'tags'>;

/** Of a load balancer with these tags. */
export function tagsChange(
  { id, tags }: Pick<ObservedLoadBalancer, 'id' | 'tags'>,
  change: Partial<Pick<TagsChange, 'add' | 'remove' | 'maxShared' | 'needs'>>,
): TagsChange {
  const { add = [], remove = [], ...others } = change;
  const request = tagsRequest(id, tagsAfter(tags, { add, remove }));
  return { op: 'tags', loadBalancerId: id, request, add, remove, ...others };
}

export function tagsAfter(
  before: readonly string[],
  { add, remove }: Pick<TagsChange, 'add' | 'remove'>,
): readonly string[] {
  const left = before.filter((tag) => tag !== '' && !remove.includes(tag));
  return [...left, ...add.filter((tag) => !left.includes(tag))];
}

/** Octavia leaves the tags alone where the list is empty: CPO sends one empty tag then. */
export function tagsRequest(id: string, tags: readonly string[]): PlannedRequest {
  return putRequest('loadbalancers', id, { tags: tags.length === 0 ? [''] : tags });
}
