/** Requests by their operation: label, method and path in one. */
import type { ApiRequest, ListRequest, Query, ServiceType } from './api-client.ts';

/** Of `GET /v2.0/ports/{id}` and an ID, or several in their order: the request, without what it has besides. IDs are encoded. */
export function operation(
  service: ServiceType,
  label: `${ApiRequest['method']} /${string}`,
  ...ids: readonly string[]
): Pick<ApiRequest, 'service' | 'operation' | 'method' | 'path'> {
  const [method = '', path = ''] = label.split(' ');
  let next = 0;
  return {
    service,
    operation: label,
    method: method as ApiRequest['method'],
    path: path.replaceAll('{id}', () => encodeURIComponent(ids[next++] ?? '')),
  };
}

/** Of `/v2.0/security-groups`: the list, which is called `security_groups` in its answer. */
export function listOf(service: ServiceType, path: `/${string}`, query: Query = []): ListRequest {
  return { service, operation: `GET ${path}`, path, collection: keyOf(path), query };
}

/** Of `/v2.0/security-groups`: `security_group`, under which bodies and answers have one of them. */
export function itemKeyOf(path: string): string {
  return keyOf(path).slice(0, -1);
}

function keyOf(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1).replaceAll('-', '_');
}
