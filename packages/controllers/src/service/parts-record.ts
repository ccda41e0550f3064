/** What is kept on a Service about its parts, so that it outlives the process. Pure. */
import { NAME_LENGTH, type PartName } from '@outrigger/cloud-provider';
import type { Patch, Service } from '@outrigger/kube';
import { apiTime } from '../api-time.ts';
import { isNamed } from '../load-balancer/check-plan.ts';
import type { Knowledge, MissingRecord } from '../load-balancer/judge-look.ts';
import type { PartsRecord } from '../load-balancer/known-parts.ts';
import { missingSinceAnnotation, partsAnnotation } from './well-known-names.ts';

const OPEN = '+';
/** Each is asked about; a record of more was not written by this program, which reads none of it then: anything may have been made. */
const MOST_PARTS = 200;
/** `kind/id`: as long as names and provider IDs. */
const PART = /^([^/]{1,255})\/(.{1,1024})$/u;

/** `undefined` also for one that is too long, which is not even taken apart: who may write the Service may write it. */
function textOf({ metadata }: Service, name: string): string | undefined {
  const text = metadata?.annotations?.[name];
  return text && text.length > MOST_PARTS * NAME_LENGTH ? undefined : text;
}

/**
 * `undefined` where there is none, or none that can be read: then anything may have been made. No Event tells of that: the next write of
 * the status puts it right.
 */
export function partsRecordOf(service: Service): PartsRecord | undefined {
  const text = textOf(service, partsAnnotation);
  return text === undefined ? undefined : parseParts(text);
}

export function missingRecordOf(service: Service): MissingRecord | undefined {
  const [time = '', ...names] = (textOf(service, missingSinceAnnotation) ?? '').split(' ');
  const since = Date.parse(time);
  const record = parseParts(names.join(' '));
  return Number.isNaN(since) || !record ? undefined : { ...record, since };
}

function partsText({ open, parts }: PartsRecord): string {
  const names = parts.map(({ id, kind }) => `${escape(kind)}/${escape(id)}`);
  return [...names.toSorted(), ...(open ? [OPEN] : [])].join(' ');
}

/** Whether this wait is the one that is written down: the two clocks that its beginning is computed from may drift apart a little. */
export function isWrittenDown(service: Service, { since, ...parts }: MissingRecord): boolean {
  const before = missingRecordOf(service);
  return before !== undefined && Math.abs(before.since - since) < 5_000 && partsText(before) === partsText(parts);
}

export function missingText(record: MissingRecord): string {
  return `${apiTime(record.since)} ${partsText(record)}`.trimEnd();
}

/** Sets annotations of a Service (`null`: removes); fails for another Service of this name. */
export function annotationPatch(service: Service, annotations: Readonly<Record<string, string | null>>): Patch {
  return { type: 'strategic', body: { metadata: { uid: service.metadata?.uid, annotations } } };
}

/**
 * The annotations that say what is known of the parts of a Service that is served, and whether they are worth a write of their
 * own: without a record a new process expects anything, so the next write is early enough. `needsNone`: names are made from
 * the owner. `isComplete`: all that it needs is there.
 */
export function recordsOf(
  service: Service,
  { parts: known, wait }: Knowledge,
  { isComplete, needsNone }: { readonly isComplete: boolean; readonly needsNone: boolean },
): { readonly annotations: Readonly<Record<string, string | null>>; readonly isDue: boolean } {
  const isWaitOver = wait === undefined && service.metadata?.annotations?.[missingSinceAnnotation] !== undefined;
  const over = isWaitOver ? { [missingSinceAnnotation]: null } : {};
  if (needsNone) return { annotations: over, isDue: isWaitOver };
  const record = partsRecordOf(service);
  const isNew = (name: PartName): boolean => !record?.parts.some((part) => isNamed(part, name));
  const text = partsText({ parts: known.names, open: !isComplete || known.unseen.length > 0 });
  const isDue = isWaitOver || (record !== undefined && known.names.some(isNew));
  return { annotations: { ...over, [partsAnnotation]: text }, isDue };
}

/** The record before a Service gets another part: there may be more. `undefined`: it says so already, or there is none. */
export function openedRecord(service: Service): string | undefined {
  const record = partsRecordOf(service);
  return record && !record.open ? partsText({ ...record, open: true }) : undefined;
}

/** What takes these records off a Service; empty where it has none. */
export function withoutRecords({ metadata }: Service): Readonly<Record<string, null>> {
  const there = [partsAnnotation, missingSinceAnnotation].filter((name) => metadata?.annotations?.[name] !== undefined);
  return Object.fromEntries(there.map((name) => [name, null]));
}

const escape = (text: string): string => text.replaceAll(/[%\s]/gu, encodeURIComponent);

function parseParts(text: string): PartsRecord | undefined {
  const words = text.split(' ').filter((word) => word !== '');
  if (words.length > MOST_PARTS) return undefined;
  const open = words.at(-1) === OPEN;
  const parts: PartName[] = [];
  for (const word of open ? words.slice(0, -1) : words) {
    const [, kind, id] = PART.exec(word) ?? [];
    if (kind === undefined || id === undefined) return undefined;
    try {
      parts.push({ kind: decodeURIComponent(kind), id: decodeURIComponent(id) });
    } catch {
      return undefined;
    }
  }
  return { parts, open };
}
