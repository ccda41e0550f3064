/** Which resource a path names. */
import { findKind, type Kind } from './kinds.ts';

export interface ResourcePath {
  readonly kind: Kind;
  /** Empty for all namespaces, and for cluster-scoped kinds. */
  readonly namespace: string;
  /** Empty for the collection. */
  readonly name: string;
  readonly subresource: string | undefined;
}

/** Undefined when the path is no resource that the server has. */
export function parseResourcePath(path: string): ResourcePath | undefined {
  const parts = path.split('/').slice(1).map(decode);
  let group: string;
  let version: string;
  let rest: string[];
  if (parts[0] === 'api') [group, version, rest] = ['', parts[1] ?? '', parts.slice(2)];
  else if (parts[0] === 'apis') [group, version, rest] = [parts[1] ?? '', parts[2] ?? '', parts.slice(3)];
  else return undefined;
  let namespace = '';
  // `/namespaces/x` and `/namespaces/x/status` are a namespace; `/namespaces/x/<plural>` is a collection in it.
  const scoped = rest[0] === 'namespaces' && rest.length >= 3 && findKind(group, version, rest[2] ?? '')?.namespaced;
  if (scoped) {
    namespace = rest[1] ?? '';
    rest = rest.slice(2);
  }
  const [plural = '', name = '', subresource] = rest;
  const kind = findKind(group, version, plural);
  if (!kind || rest.length > 3) return undefined;
  if (kind.namespaced && name !== '' && namespace === '') return undefined;
  if (subresource !== undefined && !hasSubresource(kind, subresource)) return undefined;
  return { kind, namespace, name, subresource };
}

function hasSubresource(kind: Kind, subresource: string): boolean {
  if (subresource === 'status') return kind.status;
  return subresource === 'finalize' && kind.plural === 'namespaces';
}

function decode(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
