/** The roles and bindings that give an identity what the program asks for. */
import type { ApiRule, KubeObject } from '@outrigger/kube';
import { ACCOUNT_NAMESPACE } from '../controller-clients.ts';
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

/**
 * Those of the program bear the name of its account; those of a controller's account that, a colon, and the account. First
 * what holds in the whole cluster, then by namespace; each role before its binding.
 */
export function rbacObjects(
  { accounts, builtInRoles, rules }: ProgramAccess,
  program: ServiceAccountRef,
): readonly RbacObject[] {
  const borrowed = builtInRoles.map(({ name, namespace }) => {
    const bound = `${program.name}:${name.replace(/^system:/u, '')}`;
    return bindingOf(bound, { kind: namespace === undefined ? 'ClusterRole' : 'Role', name }, program, namespace);
  });
  const others = [...accounts].toSorted(([a], [b]) => (a < b ? -1 : 1));
  return [
    ...rolesOf(program.name, rules, program),
    ...borrowed,
    ...others.flatMap(([name, rules]) =>
      rolesOf(`${program.name}:${name}`, rules, { name, namespace: ACCOUNT_NAMESPACE }),
    ),
  ];
}

function rolesOf(name: string, rules: readonly ApiRule[], account: ServiceAccountRef): readonly RbacObject[] {
  const { cluster, namespaces } = mergeRules(rules);
  const scopes = [...(cluster.length > 0 ? [[undefined, cluster] as const] : []), ...namespaces];
  return scopes.flatMap(([namespace, rules]): readonly RbacObject[] => {
    const kind = namespace === undefined ? 'ClusterRole' : 'Role';
    const metadata = namespace === undefined ? { name } : { name, namespace };
    return [{ apiVersion: `${GROUP}/v1`, kind, metadata, rules }, bindingOf(name, { kind, name }, account, namespace)];
  });
}

function bindingOf(
  name: string,
  role: { readonly kind: string; readonly name: string },
  { name: account, namespace: home }: ServiceAccountRef,
  namespace: string | undefined,
): RbacObject {
  return {
    apiVersion: `${GROUP}/v1`,
    kind: namespace === undefined ? 'ClusterRoleBinding' : 'RoleBinding',
    metadata: namespace === undefined ? { name } : { name, namespace },
    roleRef: { apiGroup: GROUP, ...role },
    subjects: [{ kind: 'ServiceAccount', namespace: home, name: account }],
  };
}
