/** Why a fake cloud refuses a request. */

/** Each reason with its usual status, and its code in the body. A table may say others. */
export const FAKE_REASONS = {
  unauthenticated: { status: 401, code: 'unauthenticated' },
  forbidden: { status: 403, code: 'forbidden' },
  'no-route': { status: 404, code: 'no_route' },
  'not-found': { status: 404, code: 'not_found' },
  invalid: { status: 400, code: 'invalid' },
  reference: { status: 422, code: 'reference' },
  'in-use': { status: 409, code: 'in_use' },
  busy: { status: 409, code: 'busy' },
  exists: { status: 409, code: 'exists' },
  quota: { status: 403, code: 'quota' },
  changed: { status: 412, code: 'changed' },
} as const;

export type FakeReason = keyof typeof FAKE_REASONS;

/** An error as a cloud words it. */
export interface FakeError {
  /** `fault`: by a rule of the test. */
  readonly reason: FakeReason | 'fault';
  readonly status: number;
  readonly code: string;
  readonly message: string;
}

/** Ends the handling of a request. */
export class FakeRefusal extends Error {
  readonly reason: FakeReason;
  /** In place of the reason's usual code. */
  readonly code: string | undefined;

  constructor(reason: FakeReason, message: string, code?: string) {
    super(message);
    this.reason = reason;
    this.code = code;
  }
}
