/** From what many parts ask for, each for itself, to as few rules of RBAC as say the same. */
import type { ApiRule, ApiVerb } from '@outrigger/kube';

/** `rules` of a ClusterRole or Role. */
export interface PolicyRule {
  readonly apiGroups: readonly string[];
  readonly resources: readonly string[];
  readonly resourceNames?: readonly string[];
  readonly verbs: readonly string[];
}

const VERBS: readonly ApiVerb[] = ['get', 'list', 'watch', 'create', 'update', 'patch', 'delete', 'approve'];

interface Merged {
  readonly group: string;
  readonly resource: string;
  readonly names: readonly string[];
  readonly verbs: Set<ApiVerb>;
}

/** Rules for the whole cluster, and those of each namespace that the former do not grant anyway. */
export function mergeRules(rules: readonly ApiRule[]): {
  readonly cluster: readonly PolicyRule[];
  readonly namespaces: ReadonlyMap<string, readonly PolicyRule[]>;
} {
  const everywhere = merge(rules.filter(({ namespace }) => namespace === undefined));
  const namespaces = new Map<string, readonly PolicyRule[]>();
  const names = new Set(rules.flatMap(({ namespace }) => namespace ?? []));
  for (const namespace of [...names].toSorted()) {
    const here = merge(rules.filter((rule) => rule.namespace === namespace));
    for (const wide of everywhere) {
      for (const one of here) if (isWider(wide, one)) for (const verb of wide.verbs) one.verbs.delete(verb);
    }
    const left = here.filter(({ verbs }) => verbs.size > 0);
    if (left.length > 0) namespaces.set(namespace, left.map(policyRuleOf));
  }
  return { cluster: everywhere.map(policyRuleOf), namespaces };
}

function merge(rules: readonly ApiRule[]): readonly Merged[] {
  const merged = new Map<string, Merged>();
  for (const { names = [], resource, subresource, verbs } of rules) {
    const path = subresource === undefined ? resource.plural : `${resource.plural}/${subresource}`;
    const key = JSON.stringify([resource.group, path, names]);
    const rule = merged.get(key) ?? { group: resource.group, resource: path, names, verbs: new Set<ApiVerb>() };
    for (const verb of verbs) rule.verbs.add(verb);
    merged.set(key, rule);
  }
  // What is granted for all objects need not be granted for some.
  for (const wide of merged.values()) {
    for (const one of merged.values()) {
      if (one !== wide && isWider(wide, one)) for (const verb of wide.verbs) one.verbs.delete(verb);
    }
  }
  return [...merged.entries()]
    .filter(([, { verbs }]) => verbs.size > 0)
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([, rule]) => rule);
}

function isWider(wide: Merged, one: Merged): boolean {
  return wide.group === one.group && wide.resource === one.resource && wide.names.length === 0;
}

function policyRuleOf({ group, names, resource, verbs }: Merged): PolicyRule {
  return {
    apiGroups: [group],
    resources: [resource],
    ...(names.length > 0 && { resourceNames: names }),
    verbs: VERBS.filter((verb) => verbs.has(verb)),
  };
}
