/** The timings of an election: client-go's defaults and the relations that must hold between them. */

export interface ElectionSettings {
  readonly identity: string;
  readonly namespace: string;
  readonly name: string;
  readonly leaseDurationMs?: number;
  readonly renewDeadlineMs?: number;
  readonly retryPeriodMs?: number;
  readonly drainTimeoutMs?: number;
}

export interface ElectionTimings {
  readonly leaseDurationMs: number;
  readonly retryPeriodMs: number;
  readonly drainTimeoutMs: number;
  /** Of one request. */
  readonly callTimeoutMs: number;
  /** From the sending of a renewal to the time from which nothing may be sent. */
  readonly holdMs: number;
}

/** client-go's `JitterFactor`. */
const JITTER_FACTOR = 1.2;

/** The part of the lease duration during which nothing may start: for requests on the wire and for clocks that run apart. */
const SAFETY = 0.15;

/** Throws one `RangeError` with all that is wrong. */
export function compileElection(settings: ElectionSettings): ElectionTimings {
  const { leaseDurationMs = 15_000, renewDeadlineMs = 10_000, retryPeriodMs = 2_000 } = settings;
  const wrong: string[] = [];
  if (!settings.identity) wrong.push('identity is empty');
  if (!settings.namespace) wrong.push('namespace is empty');
  if (!settings.name) wrong.push('name is empty');
  if (!(retryPeriodMs > 0)) wrong.push(`retryPeriod (${retryPeriodMs} ms) must be above 0`);
  if (!(renewDeadlineMs > JITTER_FACTOR * retryPeriodMs)) {
    wrong.push(
      `renewDeadline (${renewDeadlineMs} ms) must be above ${JITTER_FACTOR} x retryPeriod (${retryPeriodMs} ms)`,
    );
  }
  if (!(leaseDurationMs > renewDeadlineMs)) {
    wrong.push(`leaseDuration (${leaseDurationMs} ms) must be above renewDeadline (${renewDeadlineMs} ms)`);
  }
  if (!(leaseDurationMs >= 1_000))
    wrong.push(`leaseDuration (${leaseDurationMs} ms) must be 1,000 ms or more: a Lease counts seconds`);
  if (wrong.length > 0) throw new RangeError(`leader election: ${wrong.join('; ')}`);
  return {
    leaseDurationMs,
    retryPeriodMs,
    drainTimeoutMs: settings.drainTimeoutMs ?? renewDeadlineMs,
    callTimeoutMs: renewDeadlineMs / 2,
    holdMs: Math.min(renewDeadlineMs + retryPeriodMs, leaseDurationMs * (1 - SAFETY)),
  };
}
