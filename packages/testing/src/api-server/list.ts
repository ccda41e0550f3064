/** Lists: which revision is shown, which objects are selected, and pages that stay consistent while others write. */
import type { Kind } from './kinds.ts';
import type { Fields } from './field-selector.ts';
import { parseFieldSelector } from './field-selector.ts';
import { parseLabelSelector, type Labels } from './label-selector.ts';
import type { ObjectStorage, StoredObject } from './object-storage.ts';
import { badRequest, expired, forbiddenValue, invalid, StatusError, tooLargeResourceVersion } from './status-error.ts';

/** What is asked for, whatever the revision. */
export interface Selection {
  readonly kind: Kind;
  /** Empty: all. */
  readonly namespace: string;
  matches(object: StoredObject): boolean;
  /** Whether some objects may be left out, by selector. */
  readonly filtered: boolean;
}

export interface ObjectPage {
  readonly revision: number;
  readonly objects: readonly StoredObject[];
  readonly continue: string | undefined;
  readonly remaining: number | undefined;
}

interface Token {
  readonly v: string;
  /** -1: inconsistent, go on at whatever revision is current. */
  readonly rv: number;
  readonly start: string;
}

const TOKEN_VERSION = 'meta.k8s.io/v1';

/** Throws 400 for selectors that cannot be parsed. */
export function parseSelection(kind: Kind, namespace: string, query: URLSearchParams): Selection {
  const byLabel = parseLabelSelector(query.get('labelSelector') ?? '');
  const supported = ['metadata.name', ...(kind.namespaced ? ['metadata.namespace'] : []), ...kind.selectableFields];
  const byField = parseFieldSelector(query.get('fieldSelector') ?? '', supported);
  const labels = (object: StoredObject): Labels => object.labels;
  const fields = (object: StoredObject): Fields => object.fields;
  return {
    kind,
    namespace,
    filtered: byLabel !== undefined || byField !== undefined,
    matches: (object) =>
      object.kind.storage === kind.storage &&
      (namespace === '' || object.namespace === namespace) &&
      (!byLabel || byLabel(labels(object))) &&
      (!byField || byField(fields(object))),
  };
}

/** Throws 400 for something that is no number. */
export function parseResourceVersion(text: string | null): number | undefined {
  if (text === null || text === '') return undefined;
  if (!/^\d+$/.test(text)) {
    throw badRequest(
      `invalid resource version: resourceVersion: Invalid value: ${JSON.stringify(text)}: strconv.ParseUint: parsing ${JSON.stringify(text)}: invalid syntax`,
    );
  }
  return Number(text);
}

export const listOptionsInvalid = (field: string, why: string): StatusError =>
  invalid({ group: 'meta.k8s.io', kind: 'ListOptions' }, '', [forbiddenValue(field, why)]);

function encodeToken(rv: number, start: string): string {
  return Buffer.from(JSON.stringify({ v: TOKEN_VERSION, rv, start } satisfies Token)).toString('base64url');
}

function decodeToken(text: string): Token {
  try {
    const token = JSON.parse(Buffer.from(text, 'base64url').toString('utf8')) as Token;
    if (token.v === TOKEN_VERSION && typeof token.rv === 'number' && typeof token.start === 'string') return token;
  } catch {
    // Falls through to the same answer as a token of another shape.
  }
  throw badRequest('invalid continue token: continue key is not valid');
}

function parseLimit(text: string | null): number {
  if (text === null || text === '') return 0;
  if (!/^-?\d+$/.test(text)) throw badRequest(`strconv.ParseInt: parsing ${JSON.stringify(text)}: invalid syntax`);
  return Math.max(0, Number(text));
}

/** Throws 410 with a token to go on with when a page's revision has been compacted. */
export function listPage(storage: ObjectStorage, selection: Selection, query: URLSearchParams): ObjectPage {
  const limit = parseLimit(query.get('limit'));
  const asked = parseResourceVersion(query.get('resourceVersion'));
  const match = query.get('resourceVersionMatch') ?? '';
  const token = query.get('continue') ?? '';
  validate(asked, match, token);
  let revision = storage.revision;
  let after = '';
  if (token !== '') {
    const { rv, start } = decodeToken(token);
    after = start;
    if (rv >= 0) revision = rv;
    if (revision < storage.oldestRevision) {
      const again = encodeToken(-1, start);
      throw new StatusError(
        410,
        'Expired',
        'The provided continue parameter is too old to display a consistent list result. You can start a new list without the continue parameter, or use the continue token in this response to retrieve the remainder of the results. Continuing with the provided token results in an inconsistent list.',
        undefined,
        { continue: again },
      );
    }
  } else if (asked !== undefined && asked > 0) {
    if (asked > storage.revision) throw tooLargeResourceVersion(asked, storage.revision);
    // With a limit, the version alone means exactly that version; without one, that or newer.
    if (match === 'Exact' || (limit > 0 && match === '')) {
      if (asked < storage.oldestRevision)
        throw expired(`too old resource version: ${asked} (${storage.oldestRevision})`);
      revision = asked;
    }
  }
  const objects: StoredObject[] = [];
  let more = 0;
  for (const object of storage.listAt(selection.kind, revision)) {
    if (object.key <= after || !selection.matches(object)) continue;
    if (limit > 0 && objects.length === limit) more++;
    else objects.push(object);
  }
  const last = objects.at(-1);
  return {
    revision,
    objects,
    continue: more > 0 && last ? encodeToken(revision, last.key) : undefined,
    // The real server does not know how many of the rest a selector would leave.
    remaining: more > 0 && !selection.filtered ? more : undefined,
  };
}

function validate(asked: number | undefined, match: string, token: string): void {
  if (match !== '') {
    if (token !== '')
      throw listOptionsInvalid('resourceVersionMatch', 'resourceVersionMatch is forbidden when continue is provided');
    if (asked === undefined) {
      throw listOptionsInvalid(
        'resourceVersionMatch',
        'resourceVersionMatch is forbidden unless resourceVersion is provided',
      );
    }
    if (match === 'Exact' && asked === 0) {
      throw listOptionsInvalid(
        'resourceVersionMatch',
        'resourceVersionMatch "exact" is forbidden for resourceVersion "0"',
      );
    }
  }
  if (token !== '' && asked !== undefined && asked !== 0) {
    throw badRequest('specifying resource version is not allowed when using continue');
  }
}
