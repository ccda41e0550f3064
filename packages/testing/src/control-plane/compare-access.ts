/** Whether what RBAC grants an identity is what that identity asked for: no less, and no more. Pure. */
import type { AuditEntry } from './audit-log.ts';

/** A role or a binding of `rbac.authorization.k8s.io/v1`, as it is applied. Other kinds are passed over. */
export interface AccessObject {
  readonly kind?: string;
  readonly metadata?: { readonly name?: string; readonly namespace?: string };
  readonly rules?: readonly AccessRule[] | null;
  readonly roleRef?: { readonly kind: string; readonly name: string };
  readonly subjects?: readonly { readonly kind: string; readonly namespace?: string; readonly name: string }[];
}

export interface AccessRule {
  readonly apiGroups?: readonly string[];
  readonly resources?: readonly string[];
  readonly resourceNames?: readonly string[];
  readonly verbs: readonly string[];
}

export interface AccessQuestion {
  /** All roles and bindings that count, those that every cluster has as well: what is not here grants nothing. */
  readonly objects: readonly AccessObject[];
  /** Everybody's. */
  readonly entries: readonly AuditEntry[];
  readonly account: { readonly namespace: string; readonly name: string };
  /** Names of roles that are not ours to cut to size: one is used when any of its rules is. */
  readonly builtIn?: readonly string[];
}

/** Lines for people, each once, sorted. */
export interface AccessComparison {
  /** Requests that the server refused with 403, or that these objects do not grant although something else did. */
  readonly forbidden: readonly string[];
  /** What is granted and was not asked for: one line for each verb on each resource (and name). */
  readonly unused: readonly string[];
}

/** One thing that may be done: a verb on a resource, or on one object of it. */
interface Grant {
  readonly group: string;
  readonly resource: string;
  readonly verb: string;
  readonly name: string | undefined;
  /** `undefined`: in the whole cluster. */
  readonly namespace: string | undefined;
  /** What `unused` says of it; the same for all grants of a built-in role. */
  readonly line: string;
}

export function compareAccess(question: AccessQuestion): AccessComparison {
  const { account, entries } = question;
  const grants = grantsOf(question);
  const used = new Set<string>();
  const forbidden = new Set<string>();
  for (const entry of entries) {
    if (entry.user.username !== `system:serviceaccount:${account.namespace}:${account.name}`) continue;
    const granted = grants.filter((grant) => isFor(grant, entry));
    const isRefused = entry.responseStatus?.code === 403;
    if (!isRefused) for (const { line } of granted) used.add(line);
    if (!isRefused && isApproval(entry)) for (const { line } of grants.filter(isForSigner)) used.add(line);
    // Who may ask for no object (discovery, /version) is not decided by these rules.
    if (isRefused || (entry.objectRef !== undefined && granted.length === 0)) forbidden.add(requestLine(entry));
  }
  const unused = new Set(grants.map(({ line }) => line).filter((line) => !used.has(line)));
  return { forbidden: [...forbidden].toSorted(), unused: [...unused].toSorted() };
}

/** Admission asks then whether its author may approve for the signer. That question is in no audit log, nor is the signer's name. */
function isApproval({ objectRef }: AuditEntry): boolean {
  return objectRef?.resource === 'certificatesigningrequests' && objectRef.subresource === 'approval';
}

function isForSigner({ group, resource, verb }: Grant): boolean {
  return group === 'certificates.k8s.io' && resource === 'signers' && verb === 'approve';
}

function grantsOf({ account, builtIn = [], objects }: AccessQuestion): readonly Grant[] {
  return objects.flatMap(({ kind, metadata, roleRef, subjects = [] }) => {
    if (roleRef === undefined || (kind !== 'ClusterRoleBinding' && kind !== 'RoleBinding')) return [];
    const binds = subjects.some(
      (subject) =>
        subject.kind === 'ServiceAccount' && subject.name === account.name && subject.namespace === account.namespace,
    );
    if (!binds) return [];
    const namespace = kind === 'RoleBinding' ? metadata?.namespace : undefined;
    const role = objects.find(
      (object) =>
        object.kind === roleRef.kind &&
        object.metadata?.name === roleRef.name &&
        (roleRef.kind === 'ClusterRole' || object.metadata.namespace === namespace),
    );
    if (role === undefined) throw new Error(`${kind} ${metadata?.name ?? ''}: no ${roleRef.kind} ${roleRef.name}`);
    const whole = builtIn.includes(roleRef.name) ? `all of ${roleRef.kind} ${roleRef.name}` : undefined;
    return (role.rules ?? []).flatMap((rule) => grantsOfRule(rule, namespace, whole));
  });
}

function grantsOfRule(rule: AccessRule, namespace: string | undefined, whole: string | undefined): readonly Grant[] {
  const grants: Grant[] = [];
  for (const group of rule.apiGroups ?? []) {
    for (const resource of rule.resources ?? []) {
      for (const name of rule.resourceNames ?? [undefined]) {
        for (const verb of rule.verbs) {
          const line = whole ?? lineOf({ group, resource, name, namespace, verb });
          grants.push({ group, resource, name, namespace, verb, line });
        }
      }
    }
  }
  return grants;
}

function isFor(grant: Grant, { objectRef, verb }: AuditEntry): boolean {
  if (objectRef === undefined) return false;
  const { apiGroup = '', name, namespace } = objectRef;
  return (
    matches(grant.verb, verb) &&
    matches(grant.group, apiGroup) &&
    matches(grant.resource, resourceOf(objectRef)) &&
    (grant.name === undefined || grant.name === name) &&
    (grant.namespace === undefined || grant.namespace === namespace)
  );
}

function matches(granted: string, asked: string): boolean {
  return granted === '*' || granted === asked;
}

function resourceOf({ resource = '', subresource }: NonNullable<AuditEntry['objectRef']>): string {
  return subresource === undefined ? resource : `${resource}/${subresource}`;
}

function requestLine({ objectRef, requestURI, verb }: AuditEntry): string {
  if (objectRef === undefined) return `${verb} ${requestURI.replace(/\?.*/u, '')}`;
  const { apiGroup: group = '', namespace } = objectRef;
  // Names would make a line for each object: the rules of RBAC that name objects are few, and say which.
  return lineOf({ group, namespace, resource: resourceOf(objectRef), verb });
}

/** `patch nodes/status`, `get leases.coordination.k8s.io cloud-controller-manager in kube-system`. */
function lineOf(grant: Omit<Grant, 'line' | 'name'> & { readonly name?: string | undefined }): string {
  const { group, name, namespace, resource, verb } = grant;
  const kind = group === '' ? resource : `${resource}.${group}`;
  const where = namespace === undefined ? '' : ` in ${namespace}`;
  return `${verb} ${kind}${name === undefined ? '' : ` ${name}`}${where}`;
}
