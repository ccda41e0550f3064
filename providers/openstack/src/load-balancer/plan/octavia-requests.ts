/** Octavia's requests, as data. */
import type { OctaviaRequest } from './change.ts';

const SINGULAR = {
  listeners: 'listener',
  pools: 'pool',
  healthmonitors: 'healthmonitor',
  loadbalancers: 'loadbalancer',
};
type Collection = keyof typeof SINGULAR;
type Body = Readonly<Record<string, unknown>>;

const ROOT = '/v2.0/lbaas';

export function postRequest(collection: Collection, body: Body): OctaviaRequest {
  const path = `${ROOT}/${collection}`;
  return { method: 'POST', operation: `POST ${path}`, path, body: { [SINGULAR[collection]]: body } };
}

export function putRequest(collection: Collection, id: string, body: Body): OctaviaRequest {
  const operation = `PUT ${ROOT}/${collection}/{id}`;
  return { method: 'PUT', operation, path: pathOf(collection, id), body: { [SINGULAR[collection]]: body } };
}

export function deleteRequest(
  collection: Collection,
  id: string,
  options: { readonly cascade?: boolean } = {},
): OctaviaRequest {
  const operation = `DELETE ${ROOT}/${collection}/{id}`;
  const query = options.cascade ? { query: [['cascade', 'true']] as const } : {};
  return { method: 'DELETE', operation, path: pathOf(collection, id), ...query };
}

/** All members of a pool at once: those that are not in the list go. */
export function putMembersRequest(poolId: string, members: readonly Body[]): OctaviaRequest {
  const operation = `PUT ${ROOT}/pools/{id}/members`;
  return { method: 'PUT', operation, path: `${pathOf('pools', poolId)}/members`, body: { members } };
}

export function memberRequest(
  method: OctaviaRequest['method'],
  poolId: string,
  memberId: string | undefined,
  body?: Body,
): OctaviaRequest {
  const members = `${pathOf('pools', poolId)}/members`;
  return {
    method,
    operation: `${method} ${ROOT}/pools/{id}/members${memberId === undefined ? '' : '/{id}'}`,
    path: memberId === undefined ? members : `${members}/${encodeURIComponent(memberId)}`,
    ...(body && { body: { member: body } }),
  };
}

const pathOf = (collection: Collection, id: string): string => `${ROOT}/${collection}/${encodeURIComponent(id)}`;
