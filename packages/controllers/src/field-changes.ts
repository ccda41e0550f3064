/** What a write would change of an object, field by field, for a dry run. Pure: entry point `changesOf`. */
import type { JsonPatchOperation, KubeObject, Patch } from '@outrigger/kube';

/** One field of an object, or of a part in the cloud. */
export interface FieldChange {
  /** As `kubectl explain` names it; a condition by its type: `status.conditions[Ready]`. */
  readonly field: string;
  /** JSON; `undefined`: it is not there. */
  readonly from: string | undefined;
  readonly to: string | undefined;
}

/** What says of a write which object and which version it is for. */
const PRECONDITIONS: ReadonlySet<string> = new Set(['metadata.uid', 'metadata.resourceVersion']);
const FROM_LIST = '$deleteFromPrimitiveList/';

/** `body`: a strategic merge patch; lists are merged where they are finalizers or conditions, else replaced. Fields that stay as they are, are left out. */
export function changesOf(object: object, body: unknown): readonly FieldChange[] {
  return walk('', object, body);
}

export function changesOfPatch(object: KubeObject, patch: Patch): readonly FieldChange[] {
  if ('body' in patch) return changesOf(object, patch.body);
  return patch.operations.flatMap((operation) => changesOfOperation(object, operation));
}

/** By itself: the operations of our patches are about different fields, and none of them moves what another one is about. */
function changesOfOperation(object: KubeObject, operation: JsonPatchOperation): readonly FieldChange[] {
  const { op, path } = operation;
  if (op !== 'remove' && op !== 'add') return [];
  const names = path
    .slice(1)
    .split('/')
    .map((name) => name.replaceAll('~1', '/').replaceAll('~0', '~'));
  const from = names.reduce<unknown>((value, name) => (value as Record<string, unknown> | undefined)?.[name], object);
  const [field, to] = [names.reduce(within, ''), op === 'add' ? operation.value : undefined];
  // An element of a list is told as a whole.
  return /\/\d+$/u.test(path) ? changed(field, from, to) : walk(field, from, to);
}

function walk(path: string, before: unknown, wanted: unknown): readonly FieldChange[] {
  if (PRECONDITIONS.has(path)) return [];
  if (isRecord(wanted)) {
    const known = isRecord(before) ? before : {};
    return Object.entries(wanted).flatMap(([name, value]) => {
      if (!name.startsWith(FROM_LIST)) return walk(within(path, name), known[name], value);
      const list = name.slice(FROM_LIST.length);
      const left = listOf(known[list]).filter((one) => !listOf(value).includes(one));
      return changed(within(path, list), known[list], left);
    });
  }
  if (path === 'metadata.finalizers')
    return changed(path, before, [...new Set([...listOf(before), ...listOf(wanted)])]);
  if (path !== 'status.conditions') {
    // `$patch: replace` says of the others that they are put in place of the list.
    const isValue = (one: unknown): boolean => !isRecord(one) || one['$patch'] === undefined;
    return changed(path, before, Array.isArray(wanted) ? wanted.filter(isValue) : (wanted ?? undefined));
  }
  return listOf(wanted).flatMap((one) => {
    const { $patch, ...condition } = one as { readonly $patch?: string; readonly type: string };
    const found = listOf(before).find((other) => isRecord(other) && other['type'] === condition.type);
    return changed(`${path}[${condition.type}]`, told(found), $patch === 'delete' ? undefined : told(condition));
  });
}

/** Of a condition: its times are of no interest. */
function told(condition: unknown): unknown {
  if (!isRecord(condition)) return undefined;
  const { message, reason, status } = condition;
  return { status, reason, message };
}

function changed(field: string, from: unknown, to: unknown): readonly FieldChange[] {
  const texts = [from, to].map((value) => (value === undefined ? undefined : JSON.stringify(value)));
  return texts[0] === texts[1] ? [] : [{ field, from: texts[0], to: texts[1] }];
}

function within(path: string, name: string): string {
  if (path === '') return name;
  return /[./]|^\d+$/u.test(name) ? `${path}[${name}]` : `${path}.${name}`;
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}
