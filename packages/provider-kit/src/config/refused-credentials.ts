/** Credentials that a cloud has refused, and are not tried again at once. */

const FIRST_MS = 300_000;
const LONGEST_MS = 3_600_000;

interface Refused {
  readonly credentials: string;
  readonly error: Error;
  readonly until: number;
  readonly forMs: number;
}

/**
 * For `reconfigure`: the host hands in a config that was refused once a minute, in each replica, and clouds lock an account for a few wrong passwords. Those that
 * were refused last are left alone for 5 minutes, then ever longer up to an hour, until others are tried. All times are monotonic.
 */
export class RefusedCredentials {
  #last: Refused | undefined;

  /** Why they were refused, where that was not long ago. */
  errorOf(credentials: string, now: number): Error | undefined {
    return this.#last?.credentials === credentials && now < this.#last.until ? this.#last.error : undefined;
  }

  /** `error`: why they were refused now, if they were. */
  note(credentials: string, error: Error | undefined, now: number): void {
    const before = this.#last?.credentials === credentials ? this.#last : undefined;
    const forMs = before ? Math.min(2 * before.forMs, LONGEST_MS) : FIRST_MS;
    this.#last = error && { credentials, error, until: now + forMs, forMs };
  }
}
