import type { KubeObject, ObjectMeta, PartialObjectMetadata } from './kube-object.ts';

/** Where a kind lives in the API. `T` ties it to the type of its objects. */
export interface Resource<T extends KubeObject = KubeObject> {
  /** Empty for the core group. */
  readonly group: string;
  readonly version: string;
  /** Plural, lower case: the word in the path. */
  readonly plural: string;
  readonly kind: string;
  readonly namespaced: boolean;
  /** `metadata`: every answer is cut to the metadata by the server. Made by `metadataOf`. Default: whole objects. */
  readonly answer?: 'metadata';
  /** Never set; carries the type of the objects. */
  readonly object?: T & { metadata?: ObjectMeta };
}

/** `v1`, `coordination.k8s.io/v1` … */
export function apiVersionOf(resource: Pick<Resource, 'group' | 'version'>): string {
  return resource.group === '' ? resource.version : `${resource.group}/${resource.version}`;
}

/** The path of a collection, or of one object in it: `/api/v1/namespaces/kube-system/events/x`. */
export function pathOf(
  resource: Resource,
  ref: { readonly name?: string; readonly namespace?: string | undefined } = {},
): string {
  const root = resource.group === '' ? `/api/${resource.version}` : `/apis/${resource.group}/${resource.version}`;
  const namespace = resource.namespaced && ref.namespace ? `/namespaces/${encodeURIComponent(ref.namespace)}` : '';
  const name = ref.name ? `/${encodeURIComponent(ref.name)}` : '';
  return `${root}${namespace}/${resource.plural}${name}`;
}

/** The same kind, of which only the metadata is ever asked for: gets, lists and watches cost a fraction. */
export function metadataOf(resource: Resource): Resource<PartialObjectMetadata> {
  const { group, version, plural, kind, namespaced } = resource;
  return { group, version, plural, kind, namespaced, answer: 'metadata' };
}
