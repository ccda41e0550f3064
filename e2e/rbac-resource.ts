/** Roles and bindings, as a client names them. */
import type { Resource } from '@outrigger/kube';

type RbacKind = 'ClusterRole' | 'ClusterRoleBinding' | 'Role' | 'RoleBinding';

export function rbacResource(kind: RbacKind): Resource {
  return {
    group: 'rbac.authorization.k8s.io',
    version: 'v1',
    plural: `${kind.toLowerCase()}s`,
    kind,
    namespaced: !kind.startsWith('Cluster'),
  };
}
