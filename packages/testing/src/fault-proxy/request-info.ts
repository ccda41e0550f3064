/** What a request asks of the Kubernetes API, read from its method and path. The API server's `RequestInfo` is the model. */
export interface RequestInfo {
  /** `get`, `list`, `watch`, `create`, `update`, `patch`, `delete`, `deletecollection`; for other paths the method in lower case. */
  readonly verb: string;
  /** `nodes`, `leases` …; absent for paths that name no resource (`/readyz`, a cloud's API). */
  readonly resource?: string;
  readonly subresource?: string;
  readonly group?: string;
  readonly namespace?: string;
  readonly name?: string;
}

const PATH =
  /^\/(?:api\/[^/]+|apis\/(?<group>[^/]+)\/[^/]+)(?:\/namespaces\/(?<namespace>[^/]+)(?=\/))?\/(?<resource>[^/]+)(?:\/(?<name>[^/]+)(?:\/(?<subresource>.+))?)?\/?$/;
/** Segments that follow `namespaces/<name>` and belong to the namespace itself. */
const NAMESPACE_SUBRESOURCES = new Set(['status', 'finalize']);

export function requestInfoOf(method: string, url: string): RequestInfo {
  const { pathname, searchParams } = new URL(url, 'http://server');
  const parts = PATH.exec(pathname)?.groups;
  if (!parts) return { verb: method.toLowerCase() };
  const { group = '', resource = '', name, subresource, namespace } = parts;
  if (namespace !== undefined && name === undefined && NAMESPACE_SUBRESOURCES.has(resource)) {
    const verb = verbOf(method, true, false);
    return { verb, group, resource: 'namespaces', name: namespace, subresource: resource };
  }
  const watch = ['true', '1'].includes(searchParams.get('watch') ?? '');
  return {
    verb: verbOf(method, name !== undefined, watch),
    group,
    resource,
    ...(name !== undefined && { name: decodeURIComponent(name) }),
    ...(subresource !== undefined && { subresource }),
    ...(namespace !== undefined && { namespace }),
  };
}

function verbOf(method: string, named: boolean, watch: boolean): string {
  switch (method) {
    case 'GET':
      if (watch) return 'watch';
      return named ? 'get' : 'list';
    case 'POST':
      return 'create';
    case 'PUT':
      return 'update';
    case 'DELETE':
      return named ? 'delete' : 'deletecollection';
    default:
      return method.toLowerCase();
  }
}
