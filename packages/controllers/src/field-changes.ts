/** What a write would change of an object, field by field, for a dry run. Pure: entry point `changesOf`. */
import type { KubeObject, Patch } from '@outrigger/kube';
import type { FieldChange, NotedAction } from './journal.ts';

/** What says of a write which object and which version it is for. */
const PRECONDITIONS: ReadonlySet<string> = new Set(['metadata.uid', 'metadata.resourceVersion']);
const FROM_LIST = '$deleteFromPrimitiveList/';

/** `body`: a strategic merge patch; lists are merged where they are finalizers or conditions, else replaced. Fields that stay as they are, are left out. */
export function changesOf(object: KubeObject, body: unknown): readonly FieldChange[] {
  return walk('', object, body);
}

/** The same action, with what this patch of the object would change. */
export function withChanges(action: NotedAction, object: KubeObject, patch: Patch): NotedAction {
  return 'body' in patch ? { ...action, changes: changesOf(object, patch.body) } : action;
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
  if (path !== 'status.conditions') return changed(path, before, wanted ?? undefined);
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
  return /[./]/u.test(name) ? `${path}[${name}]` : `${path}.${name}`;
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}
