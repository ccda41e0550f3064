/** AdmissionReview of `admission.k8s.io/v1`: what the API server asks a webhook, and what it is told. */
import type { JsonPatchOperation } from '@outrigger/kube';

const API_VERSION = 'admission.k8s.io/v1';

export interface AdmissionRequest {
  readonly uid: string;
  readonly operation: 'CREATE' | 'UPDATE' | 'DELETE' | 'CONNECT';
  /** As it was sent, defaults filled in; of a DELETE, `undefined`. Nobody has checked its shape. */
  readonly object: unknown;
  /** As it is stored; of a CREATE, `undefined`. */
  readonly oldObject: unknown;
  /** Nothing will be stored, and nothing else may be changed. */
  readonly dryRun: boolean;
}

export interface AdmissionAnswer {
  /** Only of a validating webhook: why the object is not stored, in one line. Default: it is. */
  readonly refused?: string;
  /** Changes of the object. Default: none. */
  readonly operations?: readonly JsonPatchOperation[];
  /** For who has sent the request; one line each. Default: none. */
  readonly warnings?: readonly string[];
}

/** What was sent is no review that can be answered: at all (400), because it is too large (413), or now (429). */
export class ReviewError extends Error {
  override readonly name = 'ReviewError';
  readonly code = 'invalid-review';
  /** That of HTTP. */
  readonly status: 400 | 413 | 429;

  constructor(message: string, status: 400 | 413 | 429 = 400, options?: ErrorOptions) {
    super(message, options);
    this.status = status;
  }
}

/** Throws a `ReviewError`. */
export function readReview(text: string): AdmissionRequest {
  let review: unknown;
  try {
    review = JSON.parse(text);
  } catch (cause) {
    throw new ReviewError('the body is not JSON', 400, { cause });
  }
  const { apiVersion, kind, request } = (review ?? {}) as Readonly<Record<string, unknown>>;
  if (kind !== 'AdmissionReview' || apiVersion !== API_VERSION) {
    throw new ReviewError(`the body is not an AdmissionReview of ${API_VERSION}: list v1 in admissionReviewVersions`);
  }
  const { uid, operation, object, oldObject, dryRun } = (request ?? {}) as Readonly<Record<string, unknown>>;
  if (typeof uid !== 'string' || uid === '') throw new ReviewError('request.uid is missing');
  if (!isOperation(operation)) throw new ReviewError('request.operation is none');
  return { uid, operation, object: object ?? undefined, oldObject: oldObject ?? undefined, dryRun: dryRun === true };
}

/** The most of a warning that reaches whom it is for: the API server cuts what is longer where there is much. */
const LONGEST_WARNING = 256;

/** A Status as a ValidatingAdmissionPolicy gives it. */
const INVALID = { code: 422, reason: 'Invalid' };

/** Allowed, with these changes, or refused. */
export function reviewOf(uid: string, { operations = [], refused, warnings = [] }: AdmissionAnswer): object {
  return {
    apiVersion: API_VERSION,
    kind: 'AdmissionReview',
    response: {
      uid,
      allowed: refused === undefined,
      ...(refused !== undefined && { status: { ...INVALID, message: inOneLine(refused) } }),
      ...(operations.length > 0 && {
        patchType: 'JSONPatch',
        patch: Buffer.from(JSON.stringify(operations)).toString('base64'),
      }),
      ...(warnings.length > 0 && { warnings: warnings.map(shortened) }),
    },
  };
}

function inOneLine(text: string): string {
  return text.replaceAll(/\s+/gu, ' ').trim();
}

function shortened(warning: string): string {
  const line = inOneLine(warning);
  return line.length <= LONGEST_WARNING ? line : `${line.slice(0, LONGEST_WARNING - 1)}…`;
}

function isOperation(value: unknown): value is AdmissionRequest['operation'] {
  return value === 'CREATE' || value === 'UPDATE' || value === 'DELETE' || value === 'CONNECT';
}
