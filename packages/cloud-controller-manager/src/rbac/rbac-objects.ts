/** The roles and bindings that give an identity what the program asks for. */
import type { ApiRule, KubeObject } from '@outrigger/kube';
import { ACCOUNT_NAMESPACE } from '../cluster/controller-clients.ts';
import { mergeRules, type PolicyRule } from './merge-rules.ts';
import type { ProgramAccess } from './program-rules.ts';

const GROUP = 'rbac.authorization.k8s.io';

/** A service account of the cluster. */
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
  readonly subjects?: readonly RbacSubject[];
}

/** To whom the roles are bound. */
type RbacSubject =
  | (ServiceAccountRef & { readonly kind: 'ServiceAccount' })
  | { readonly kind: 'User'; readonly apiGroup: string; readonly name: string };

/**
 * Those of the program bear the name of its account; those of a controller's account that, a colon, and the account. First
 * what holds in the whole cluster, then by namespace; each role before its binding. `user`: as whom the program asks, where it
 * is outside of the cluster and has no account.
 */
export function rbacObjects(
  { accounts, builtInRoles, rules }: ProgramAccess,
  program: ServiceAccountRef,
  user?: string,
): readonly RbacObject[] {
  const subject: RbacSubject = user === undefined ? accountOf(program) : { kind: 'User', apiGroup: GROUP, name: user };
  const borrowed = builtInRoles.map(({ name, namespace }) => {
    const bound = `${program.name}:${name.replace(/^system:/u, '')}`;
    return bindingOf(bound, { kind: namespace === undefined ? 'ClusterRole' : 'Role', name }, subject, namespace);
  });
  const others = [...accounts].toSorted(([a], [b]) => (a < b ? -1 : 1));
  return [
    ...rolesOf(program.name, rules, subject),
    ...borrowed,
    ...others.flatMap(([name, rules]) =>
      rolesOf(`${program.name}:${name}`, rules, accountOf({ name, namespace: ACCOUNT_NAMESPACE })),
    ),
  ];
}

function rolesOf(name: string, rules: readonly ApiRule[], subject: RbacSubject): readonly RbacObject[] {
  const { cluster, namespaces } = mergeRules(rules);
  const scopes = [...(cluster.length > 0 ? [[undefined, cluster] as const] : []), ...namespaces];
  return scopes.flatMap(([namespace, rules]): readonly RbacObject[] => {
    const kind = namespace === undefined ? 'ClusterRole' : 'Role';
    const metadata = namespace === undefined ? { name } : { name, namespace };
    return [{ apiVersion: `${GROUP}/v1`, kind, metadata, rules }, bindingOf(name, { kind, name }, subject, namespace)];
  });
}

function bindingOf(
  name: string,
  role: { readonly kind: string; readonly name: string },
  subject: RbacSubject,
  namespace: string | undefined,
): RbacObject {
  return {
    apiVersion: `${GROUP}/v1`,
    kind: namespace === undefined ? 'ClusterRoleBinding' : 'RoleBinding',
    metadata: namespace === undefined ? { name } : { name, namespace },
    roleRef: { apiGroup: GROUP, ...role },
    subjects: [subject],
  };
}

function accountOf({ name, namespace }: ServiceAccountRef): RbacSubject {
  return { kind: 'ServiceAccount', namespace, name };
}
