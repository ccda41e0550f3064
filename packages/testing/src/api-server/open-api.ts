/** OpenAPI v3, as little as kubectl needs: that each kind is there, and that the server validates fields itself. */
import type { JsonObject } from './api-object.ts';
import { allGroupVersions } from './discovery.ts';
import { KINDS } from './kinds.ts';

const pathOfVersion = (groupVersion: string): string =>
  groupVersion.includes('/') ? `apis/${groupVersion}` : `api/${groupVersion}`;

/** `/openapi/v3`. */
export function openApiIndex(): JsonObject {
  return {
    paths: Object.fromEntries(
      allGroupVersions.map((groupVersion) => {
        const path = pathOfVersion(groupVersion);
        return [path, { serverRelativeURL: `/openapi/v3/${path}` }];
      }),
    ),
  };
}

/** `/openapi/v3/<path>`. Undefined when there is no such version. */
export function openApiDocument(path: string, version: string): JsonObject | undefined {
  const groupVersion = allGroupVersions.find((candidate) => pathOfVersion(candidate) === path);
  if (groupVersion === undefined) return undefined;
  const kinds = KINDS.filter((kind) => kind.apiVersion === groupVersion);
  // kubectl looks for this parameter on a kind's PATCH before it leaves validation to the server.
  const parameters = ['dryRun', 'fieldManager', 'fieldValidation', 'force'].map((name) => ({
    name,
    in: 'query',
    schema: { type: 'string' },
  }));
  return {
    openapi: '3.0.0',
    info: { title: 'Kubernetes', version },
    paths: Object.fromEntries(
      kinds.map((kind) => {
        const root = `/${path}${kind.namespaced ? '/namespaces/{namespace}' : ''}/${kind.plural}/{name}`;
        const gvk = { group: kind.group, version: kind.version, kind: kind.kind };
        const operation = { 'x-kubernetes-group-version-kind': gvk, responses: { 200: { description: 'OK' } } };
        return [
          root,
          {
            get: { ...operation, 'x-kubernetes-action': 'get' },
            put: { ...operation, 'x-kubernetes-action': 'put', parameters },
            patch: { ...operation, 'x-kubernetes-action': 'patch', parameters },
          },
        ];
      }),
    ),
    components: {
      schemas: Object.fromEntries(
        kinds.map((kind) => [
          `${kind.group || 'core'}.${kind.version}.${kind.kind}`,
          {
            type: 'object',
            'x-kubernetes-preserve-unknown-fields': true,
            'x-kubernetes-group-version-kind': [{ group: kind.group, version: kind.version, kind: kind.kind }],
          },
        ]),
      ),
    },
  };
}
