/** What the server has, in the three forms that clients ask for it: aggregated discovery v2, groups, resources of a group. */
import type { JsonObject } from './api-object.ts';
import { KINDS, type Kind } from './kinds.ts';

const VERBS = ['create', 'delete', 'deletecollection', 'get', 'list', 'patch', 'update', 'watch'];
const STATUS_VERBS = ['get', 'patch', 'update'];

const groupVersions = (): string[] => [...new Set(KINDS.map((kind) => kind.apiVersion))];

function versionsOf(group: string): string[] {
  return [...new Set(KINDS.filter((kind) => kind.group === group).map((kind) => kind.version))];
}

const groups = (): string[] => [...new Set(KINDS.map((kind) => kind.group))].filter((group) => group !== '');

const names = (kind: Kind): JsonObject => ({
  ...(kind.shortNames.length > 0 ? { shortNames: kind.shortNames } : {}),
  ...(kind.categories.length > 0 ? { categories: kind.categories } : {}),
});

/** `/api/v1`, `/apis/<group>/<version>`: APIResourceList. Undefined when there is no such version. */
export function resourceList(groupVersion: string): JsonObject | undefined {
  const kinds = KINDS.filter((kind) => kind.apiVersion === groupVersion);
  if (kinds.length === 0) return undefined;
  return {
    kind: 'APIResourceList',
    apiVersion: 'v1',
    groupVersion,
    resources: kinds.flatMap((kind) => {
      const own = { name: kind.plural, singularName: kind.singular, namespaced: kind.namespaced, kind: kind.kind };
      return [
        { ...own, verbs: VERBS, ...names(kind) },
        ...(kind.status ? [{ ...own, name: `${kind.plural}/status`, singularName: '', verbs: STATUS_VERBS }] : []),
      ];
    }),
  };
}

/** `/api`: APIVersions. */
export function coreVersions(address: string): JsonObject {
  return {
    kind: 'APIVersions',
    versions: versionsOf(''),
    serverAddressByClientCIDRs: [{ clientCIDR: '0.0.0.0/0', serverAddress: address }],
  };
}

/** `/apis/<group>`: APIGroup. Undefined when there is no such group. */
export function apiGroup(name: string): JsonObject | undefined {
  const versions = versionsOf(name).map((version) => ({ groupVersion: `${name}/${version}`, version }));
  if (name === '' || versions.length === 0) return undefined;
  return { kind: 'APIGroup', apiVersion: 'v1', name, versions, preferredVersion: versions[0] };
}

/** `/apis`: APIGroupList. */
export function apiGroups(): JsonObject {
  return { kind: 'APIGroupList', apiVersion: 'v1', groups: groups().map((name) => apiGroup(name)) };
}

/** `/api` and `/apis` as kubectl asks first: apidiscovery.k8s.io/v2. */
export function aggregatedDiscovery(core: boolean): JsonObject {
  return {
    kind: 'APIGroupDiscoveryList',
    apiVersion: 'apidiscovery.k8s.io/v2',
    metadata: {},
    items: (core ? [''] : groups()).map((group) => ({
      metadata: group === '' ? {} : { name: group },
      versions: versionsOf(group).map((version) => ({
        version,
        freshness: 'Current',
        resources: KINDS.filter((kind) => kind.group === group && kind.version === version).map((kind) => ({
          resource: kind.plural,
          responseKind: { group, version, kind: kind.kind },
          scope: kind.namespaced ? 'Namespaced' : 'Cluster',
          singularResource: kind.singular,
          verbs: VERBS,
          ...names(kind),
          ...(kind.status
            ? {
                subresources: [
                  { subresource: 'status', responseKind: { group, version, kind: kind.kind }, verbs: STATUS_VERBS },
                ],
              }
            : {}),
        })),
      })),
    })),
  };
}

/** Whether the client wants discovery in one piece. */
export const wantsAggregated = (accept: string | undefined): boolean =>
  (accept ?? '').split(',').some((entry) => /as=APIGroupDiscoveryList/.test(entry) && /v=v2(;|$)/.test(entry.trim()));

/** All group versions, `v1` first. */
export const allGroupVersions: readonly string[] = groupVersions();
