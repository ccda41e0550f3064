/** What the server says when it says no: the `Status` object of meta/v1, thrown. */
import type { JsonObject } from './api-object.ts';

/** One entry of `details.causes`. */
export interface FieldError {
  readonly field: string;
  readonly reason:
    | 'FieldValueInvalid'
    | 'FieldValueRequired'
    | 'FieldValueForbidden'
    | 'FieldValueNotSupported'
    | 'FieldValueDuplicate';
  readonly message: string;
}

/** The kind a `Status` speaks about; `plural` or `kind` is named, as the real server does case by case. */
export interface Subject {
  readonly group: string;
  readonly plural: string;
  readonly kind: string;
}

/** Thrown by handlers, sent as `Status` with `code` as the HTTP status. */
export class StatusError extends Error {
  override readonly name: string = 'StatusError';
  /** HTTP status. */
  readonly code: number;
  readonly reason: string;
  readonly details: JsonObject | undefined;
  /** Metadata of the `Status`: the continue token of an expired list. */
  readonly metadata: JsonObject;

  constructor(code: number, reason: string, message: string, details?: JsonObject, metadata: JsonObject = {}) {
    super(message);
    this.code = code;
    this.reason = reason;
    this.details = details;
    this.metadata = metadata;
  }

  /** The body of the answer. */
  toStatus(): JsonObject {
    return {
      kind: 'Status',
      apiVersion: 'v1',
      metadata: this.metadata,
      status: 'Failure',
      message: this.message,
      ...(this.reason === '' ? {} : { reason: this.reason }),
      ...(this.details ? { details: this.details } : {}),
      code: this.code,
    };
  }
}

const named = (subject: Subject, name: string, kind: string): JsonObject => ({
  ...(name === '' ? {} : { name }),
  ...(subject.group === '' ? {} : { group: subject.group }),
  kind,
});

const qualified = (word: string, subject: Subject): string =>
  subject.group === '' ? word : `${word}.${subject.group}`;

export const badRequest = (message: string): StatusError => new StatusError(400, 'BadRequest', message);

export const internalError = (message: string): StatusError => new StatusError(500, '', message);

export const notFound = (subject: Subject, name: string): StatusError =>
  new StatusError(
    404,
    'NotFound',
    `${qualified(subject.plural, subject)} "${name}" not found`,
    named(subject, name, subject.plural),
  );

export const alreadyExists = (subject: Subject, name: string): StatusError =>
  new StatusError(
    409,
    'AlreadyExists',
    `${qualified(subject.plural, subject)} "${name}" already exists`,
    named(subject, name, subject.plural),
  );

export const conflict = (subject: Subject, name: string, why: string): StatusError =>
  new StatusError(
    409,
    'Conflict',
    `Operation cannot be fulfilled on ${qualified(subject.plural, subject)} "${name}": ${why}`,
    named(subject, name, subject.plural),
  );

export const forbidden = (subject: Subject, name: string, why: string): StatusError =>
  new StatusError(
    403,
    'Forbidden',
    `${qualified(subject.plural, subject)} "${name}" is forbidden: ${why}`,
    named(subject, name, subject.plural),
  );

export const expired = (message: string): StatusError => new StatusError(410, 'Expired', message);

/** 422 with one cause per field error. */
export function invalid(
  subject: Pick<Subject, 'group' | 'kind'>,
  name: string,
  errors: readonly FieldError[],
): StatusError {
  const lines = errors.map((error) => `${error.field}: ${error.message}`);
  const kind = subject.group === '' ? subject.kind : `${subject.kind}.${subject.group}`;
  return new StatusError(
    422,
    'Invalid',
    `${kind} "${name}" is invalid: ${lines.length === 1 ? lines[0] : `[${lines.join(', ')}]`}`,
    {
      ...(name === '' ? {} : { name }),
      ...(subject.group === '' ? {} : { group: subject.group }),
      kind: subject.kind,
      causes: errors.map(({ reason, message, field }) => ({ reason, message, field })),
    },
  );
}

/** The server was asked for a revision that it has not reached. Clients retry (client-go: `IsTooLargeResourceVersion`). */
export const tooLargeResourceVersion = (asked: number, current: number): StatusError =>
  new StatusError(504, 'Timeout', `Timeout: Too large resource version: ${asked}, current: ${current}`, {
    causes: [{ reason: 'ResourceVersionTooLarge', message: 'Too large resource version' }],
    retryAfterSeconds: 1,
  });

export const invalidValue = (field: string, value: unknown, why: string): FieldError => ({
  field,
  reason: 'FieldValueInvalid',
  message: `Invalid value: ${JSON.stringify(value)}: ${why}`,
});

export const requiredValue = (field: string, why: string): FieldError => ({
  field,
  reason: 'FieldValueRequired',
  message: why === '' ? 'Required value' : `Required value: ${why}`,
});

export const forbiddenValue = (field: string, why: string): FieldError => ({
  field,
  reason: 'FieldValueForbidden',
  message: `Forbidden: ${why}`,
});

export const unsupportedValue = (field: string, value: unknown, supported: readonly string[]): FieldError => ({
  field,
  reason: 'FieldValueNotSupported',
  message: `Unsupported value: ${JSON.stringify(value)}: supported values: ${supported.map((s) => `"${s}"`).join(', ')}`,
});

export const duplicateValue = (field: string, value: unknown): FieldError => ({
  field,
  reason: 'FieldValueDuplicate',
  message: `Duplicate value: ${JSON.stringify(value)}`,
});
