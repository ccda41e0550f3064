/** What a part of a program asks of the API server, as data beside that part: what it has to be granted follows from it. */
import type { KubeObject, ObjectRef } from './kube-object.ts';
import type { Resource } from './resource.ts';
import { resources } from './resources.ts';

export type ApiVerb = 'get' | 'list' | 'watch' | 'create' | 'update' | 'patch' | 'delete' | 'approve';

export interface ApiRule {
  readonly resource: Pick<Resource, 'group' | 'plural'>;
  /** `status`. Default: the object itself, which says nothing of its subresources. */
  readonly subresource?: string;
  readonly verbs: readonly ApiVerb[];
  /** Only in this namespace. Default: everywhere, and all that a kind without namespaces can have. */
  readonly namespace?: string;
  /** Asked by what all controllers of a program share, and not by the one that states it. Default: false. */
  readonly shared?: true;
  /** Only the objects of these names. Not for `create` of a whole object: the API server does not know the name yet. Default: all. */
  readonly names?: readonly string[];
}

/** Of a `Store`: a watch that begins with all objects where the server has that, else a list first. */
export function storeRule<T extends KubeObject>(resource: Resource<T>): ApiRule {
  return { resource, verbs: ['list', 'watch'], shared: true };
}

/** Of an `EventRecorder`. Events about what has no namespace are kept in `default`. Without a namespace: about objects in any. */
export function eventRule(namespace?: string): ApiRule {
  return { resource: resources.coreEvents, verbs: ['create', 'patch'], ...(namespace !== undefined && { namespace }) };
}

/** Of `requestedToken`, for accounts of one namespace. */
export function tokenRules(namespace: string, names: readonly string[]): readonly ApiRule[] {
  return [
    { resource: resources.serviceAccounts, subresource: 'token', verbs: ['create'], namespace, names },
    { resource: resources.serviceAccounts, verbs: ['create'], namespace },
  ];
}

/** Of a `LeaderElector` for one Lease, and of the Event that says who leads. */
export function leaseRules({ name, namespace }: ObjectRef & { readonly namespace: string }): readonly ApiRule[] {
  return [
    { resource: resources.leases, verbs: ['create'], namespace },
    { resource: resources.leases, verbs: ['get', 'update', 'watch'], namespace, names: [name] },
    // Each says another name: there is nothing to count up.
    { resource: resources.coreEvents, verbs: ['create'], namespace },
  ];
}
