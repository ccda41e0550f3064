/**
 * Strategic merge patch: a merge patch in which some lists are merged too, by a key that the kind declares.
 * https://github.com/kubernetes/community/blob/master/contributors/devel/sig-api-machinery/strategic-merge-patch.md
 */
import { isJsonObject, sameJson, type JsonObject } from './api-object.ts';
import { badRequest, internalError } from './status-error.ts';

/**
 * Lists that are merged, by dotted path (a list's own name stands for its elements): the merge key of a list of
 * objects, or `set` for a list of plain values. A list that is not named is replaced whole. The values are those of
 * `patchMergeKey` in k8s.io/api.
 */
export type MergeKeys = Readonly<Record<string, string>>;

const METADATA_KEYS: MergeKeys = { 'metadata.ownerReferences': 'uid', 'metadata.finalizers': 'set' };

const ELEMENT_ORDER = '$setElementOrder/';
const DELETE_PRIMITIVES = '$deleteFromPrimitiveList/';
const RETAIN_KEYS = '$retainKeys';

function mergeObject(target: JsonObject, patch: JsonObject, path: string, keys: MergeKeys): JsonObject {
  if (patch['$patch'] === 'replace') {
    const { $patch: _directive, ...replacement } = patch;
    return replacement;
  }
  if (patch['$patch'] === 'delete') return {};
  const retained = patch[RETAIN_KEYS];
  if (Array.isArray(retained)) {
    for (const field of Object.keys(target)) if (!retained.includes(field)) delete target[field];
  }
  for (const [field, value] of Object.entries(patch)) {
    if (field === '$patch' || field === RETAIN_KEYS || field.startsWith(ELEMENT_ORDER)) continue;
    if (field.startsWith(DELETE_PRIMITIVES)) {
      const list = field.slice(DELETE_PRIMITIVES.length);
      const current = target[list];
      if (Array.isArray(current) && Array.isArray(value)) {
        target[list] = current.filter((item) => !value.includes(item));
      }
      continue;
    }
    const at = path === '' ? field : `${path}.${field}`;
    if (value === null) delete target[field];
    else if (Array.isArray(value)) {
      target[field] = mergeList(target[field], value, patch[ELEMENT_ORDER + field], at, keys);
    } else if (isJsonObject(value)) {
      const current = target[field];
      target[field] = mergeObject(isJsonObject(current) ? current : {}, value, at, keys);
    } else target[field] = value;
  }
  for (const [field, order] of Object.entries(patch)) {
    if (!field.startsWith(ELEMENT_ORDER)) continue;
    const list = field.slice(ELEMENT_ORDER.length);
    if (Object.hasOwn(patch, list) || !Array.isArray(target[list])) continue;
    target[list] = mergeList(target[list], [], order, path === '' ? list : `${path}.${list}`, keys);
  }
  return target;
}

function mergeList(
  current: unknown,
  patch: readonly unknown[],
  order: unknown,
  path: string,
  keys: MergeKeys,
): unknown {
  const mergeKey = keys[path];
  if (mergeKey === undefined) return patch;
  const before: readonly unknown[] = Array.isArray(current) ? current : [];
  if (mergeKey === 'set') {
    const added = patch.filter((item) => !before.includes(item));
    return inOrder([...before, ...added], before, patch, order, (item) => item);
  }
  const keyOf = (item: unknown): unknown => {
    if (!isJsonObject(item)) throw badRequest(`${path}: a list that is merged by ${mergeKey} has objects only`);
    if (!Object.hasOwn(item, mergeKey)) {
      throw internalError(`map: ${JSON.stringify(item)} does not contain declared merge key: ${mergeKey}`);
    }
    return item[mergeKey];
  };
  if (patch.some((item) => isJsonObject(item) && item['$patch'] === 'replace')) {
    return patch.filter((item) => !isJsonObject(item) || item['$patch'] !== 'replace');
  }
  let result = [...before];
  const changed: unknown[] = [];
  for (const item of patch) {
    const key = keyOf(item);
    const directive = (item as JsonObject)['$patch'];
    if (directive === 'delete') {
      result = result.filter((other) => !sameJson(keyOf(other), key));
      continue;
    }
    if (directive !== undefined && directive !== 'merge')
      throw badRequest(`unknown $patch: ${JSON.stringify(directive)}`);
    changed.push(item);
    const index = result.findIndex((other) => sameJson(keyOf(other), key));
    const base = index < 0 ? {} : (result[index] as JsonObject);
    const merged = mergeObject(base, item as JsonObject, path, keys);
    if (index < 0) result.push(merged);
    else result[index] = merged;
  }
  return inOrder(result, before, changed, order, keyOf);
}

/**
 * Puts what the patch names in the order of `$setElementOrder`, else in its own order. An element that only the object
 * has keeps its place before those it stood before; elements that are new come ahead of it, as on the real server.
 */
function inOrder(
  merged: readonly unknown[],
  before: readonly unknown[],
  patch: readonly unknown[],
  order: unknown,
  keyOf: (item: unknown) => unknown,
): unknown[] {
  const indexIn = (list: readonly unknown[], item: unknown): number =>
    list.findIndex((key) => sameJson(key, keyOf(item)));
  // An order list names keys alone: plain values for a set, objects with the merge key otherwise.
  const wanted = (Array.isArray(order) ? order : patch).map((item) => keyOf(item));
  const original = before.map((item) => keyOf(item));
  const named = merged
    .filter((item) => indexIn(wanted, item) >= 0)
    .sort((a, b) => indexIn(wanted, a) - indexIn(wanted, b));
  const others = merged.filter((item) => indexIn(wanted, item) < 0);
  const result: unknown[] = [];
  for (const item of named) {
    while (others.length > 0 && indexIn(original, others[0]) < indexIn(original, item)) result.push(others.shift());
    result.push(item);
  }
  return [...result, ...others];
}

/** Changes `document` in place. Throws 400 when the patch is no object, 500 (as the real server) when an element has no merge key. */
export function applyStrategicMergePatch(document: JsonObject, patch: unknown, keys: MergeKeys): JsonObject {
  if (!isJsonObject(patch)) throw badRequest('error decoding patch: a strategic merge patch is an object');
  return mergeObject(document, patch, '', { ...METADATA_KEYS, ...keys });
}
