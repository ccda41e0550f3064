/** Requests by their operation: label, method and path in one. */
import type { ApiRequest, ListRequest, ServiceType } from './api-client.ts';

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
export function listOf(service: ServiceType, path: `/${string}`): Omit<ListRequest, 'query' | 'microversion'> {
  const collection = path.slice(path.lastIndexOf('/') + 1).replaceAll('-', '_');
  return { service, operation: `GET ${path}`, path, collection };
}
