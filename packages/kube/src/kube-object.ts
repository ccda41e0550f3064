/** What all Kubernetes API objects have in common. Objects stay the raw JSON they came as, so that unknown fields survive. */

/** https://kubernetes.io/docs/reference/kubernetes-api/common-definitions/object-meta/ (times are RFC 3339 strings). */
export interface ObjectMeta {
  name?: string;
  generateName?: string;
  namespace?: string;
  uid?: string;
  resourceVersion?: string;
  generation?: number;
  creationTimestamp?: string;
  deletionTimestamp?: string;
  deletionGracePeriodSeconds?: number;
  labels?: Record<string, string>;
  annotations?: Record<string, string>;
  finalizers?: string[];
  ownerReferences?: OwnerReference[];
  managedFields?: unknown[];
}

export interface OwnerReference {
  apiVersion: string;
  kind: string;
  name: string;
  uid: string;
  controller?: boolean;
  blockOwnerDeletion?: boolean;
}

export interface KubeObject {
  apiVersion?: string;
  kind?: string;
  metadata?: ObjectMeta;
}

/** `meta.k8s.io/v1 PartialObjectMetadata`: the small answer, where only metadata is of interest. */
export interface PartialObjectMetadata extends KubeObject {
  metadata: ObjectMeta;
}

/** The name of an object, and its namespace if its kind has one. */
export interface ObjectRef {
  readonly name: string;
  readonly namespace?: string | undefined;
}

/** `namespace/name`, or `name` for cluster-scoped objects: client-go's `MetaNamespaceKey`. */
export type ObjectKey = string;

/** The key under which stores and queues know the object. */
export function keyOf(ref: ObjectRef): ObjectKey {
  return ref.namespace ? `${ref.namespace}/${ref.name}` : ref.name;
}

/** The key of a whole object. Throws a `TypeError` when it has no name. */
export function keyOfObject(object: KubeObject): ObjectKey {
  const { name, namespace } = object.metadata ?? {};
  if (!name) throw new TypeError(`${object.kind ?? 'object'} has no metadata.name`);
  return keyOf({ name, namespace });
}

/** The opposite of `keyOf`. */
export function refOf(key: ObjectKey): ObjectRef {
  const slash = key.indexOf('/');
  return slash < 0 ? { name: key } : { namespace: key.slice(0, slash), name: key.slice(slash + 1) };
}
