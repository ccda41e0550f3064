/** The roles and bindings that give an identity what the program asks for. */
import type { KubeObject } from '@outrigger/kube';
import { mergeRules, type PolicyRule } from './merge-rules.ts';
import type { ProgramAccess } from './program-rules.ts';

/** Of what is shipped: not `cloud-controller-manager`, which a predecessor may have, and keeps. */
export const OBJECT_NAME = 'outrigger-cloud-controller-manager';
const GROUP = 'rbac.authorization.k8s.io';

/** To whom the roles are bound. */
export interface ServiceAccountRef {
  readonly namespace: string;
  readonly name: string;
}

/** A role or a binding, ready to be applied. */
export interface RbacObject extends KubeObject {
  readonly apiVersion: string;
  readonly kind: 'ClusterRole' | 'ClusterRoleBinding' | 'Role' | 'RoleBinding';
  readonly metadata: { readonly name: string; readonly namespace?: string };
  readonly rules?: readonly PolicyRule[];
  readonly roleRef?: { readonly apiGroup: string; readonly kind: string; readonly name: string };
  readonly subjects?: readonly (ServiceAccountRef & { readonly kind: 'ServiceAccount' })[];
}

/** All bear the name of the account. First what holds in the whole cluster, then by namespace; each role before its binding. */
export function rbacObjects({ builtInRoles, rules }: ProgramAccess, account: ServiceAccountRef): readonly RbacObject[] {
  const { cluster, namespaces } = mergeRules(rules);
  const own = account.name;
  const objects: RbacObject[] = [];
  const bind = (name: string, role: 'ClusterRole' | 'Role', roleName: string, namespace?: string): void => {
    objects.push({
      apiVersion: `${GROUP}/v1`,
      kind: namespace === undefined ? 'ClusterRoleBinding' : 'RoleBinding',
      metadata: { name, ...(namespace !== undefined && { namespace }) },
      roleRef: { apiGroup: GROUP, kind: role, name: roleName },
      subjects: [{ kind: 'ServiceAccount', namespace: account.namespace, name: account.name }],
    });
  };
  if (cluster.length > 0) {
    objects.push({
      apiVersion: `${GROUP}/v1`,
      kind: 'ClusterRole',
      metadata: { name: own },
      rules: cluster,
    });
    bind(own, 'ClusterRole', own);
  }
  for (const { name, namespace } of builtInRoles) {
    const short = name.replace(/^system:/u, '');
    bind(`${own}:${short}`, namespace === undefined ? 'ClusterRole' : 'Role', name, namespace);
  }
  for (const [namespace, rules] of namespaces) {
    objects.push({
      apiVersion: `${GROUP}/v1`,
      kind: 'Role',
      metadata: { name: own, namespace },
      rules,
    });
    bind(own, 'Role', own, namespace);
  }
  return objects;
}
