/** `--dry-run --once`: waits until nothing more is planned, says what would be done, and ends the program. */
import { tracingChannel } from 'node:diagnostics_channel';
import { CLOUD_CALL_CHANNEL, type CloudCallTrace, type OpenedProvider } from '@outrigger/cloud-runtime';
import type { Journal, NotedAction } from '@outrigger/controllers';
import type { Clock } from '@outrigger/kube';
import { oneLine } from '../explain/one-line.ts';

/** So long nothing is planned, and no request to a cloud is under way: longer than a batch of look-ups, or a retry of one, waits. */
const QUIET_MS = 10_000;
const POLL_MS = 250;
/** After that it is said that no end was seen. */
const LONGEST_MS = 300_000;
/** With one of these as its last answer, an operation was not answered. A 5xx is `unavailable`, but for a 501, which says that it will never be. */
const FAILED =
  /^(?:unavailable|timeout|throttled|unauthenticated|forbidden|error|configuration|http-(?:401|403|501))$/u;

/** 0: nothing is planned; 2: something is; 1: it could not be found out. */
export type OnceCode = 0 | 1 | 2;

export interface DryRunOnceOptions {
  readonly clock: Clock;
  readonly journal: Pick<Journal, 'plans'>;
  readonly write: (text: string) => void;
}

export class DryRunOnce implements Disposable {
  /** Aborts when all has been said. */
  readonly signal: AbortSignal;
  readonly #options: DryRunOnceOptions;
  readonly #done = new AbortController();
  readonly #forget: () => void;
  /** Of each operation, by provider. */
  readonly #lastCodes = new Map<string, string>();
  #inFlight = 0;
  #busyAt: number;
  #code: OnceCode = 1;

  constructor(options: DryRunOnceOptions) {
    this.#options = options;
    this.signal = this.#done.signal;
    this.#busyAt = options.clock.monotonic();
    const { asyncEnd, start } = tracingChannel<string, CloudCallTrace>(CLOUD_CALL_CHANNEL);
    const begun = (): void => void this.#inFlight++;
    const ended = (trace: unknown): void => {
      const { code = '', operation, provider } = trace as CloudCallTrace;
      this.#inFlight--;
      this.#busyAt = options.clock.monotonic();
      this.#lastCodes.set(`${provider}: ${operation}`, code);
    };
    start.subscribe(begun);
    asyncEnd.subscribe(ended);
    this.#forget = () => {
      start.unsubscribe(begun);
      asyncEnd.unsubscribe(ended);
    };
  }

  get code(): OnceCode {
    return this.#code;
  }

  /** `synced`: when all of the cluster is known. Never rejects. */
  async settle(synced: Promise<void>, providers: readonly OpenedProvider[], signal: AbortSignal): Promise<void> {
    try {
      const isSettled = await this.#quiet(synced, signal);
      this.#report(isSettled, providers);
    } catch {
      // It is to stop, and nothing more is asked for.
    } finally {
      this.#done.abort(new DOMException('the dry run is over', 'AbortError'));
    }
  }

  [Symbol.dispose](): void {
    this.#forget();
  }

  async #quiet(synced: Promise<void>, signal: AbortSignal): Promise<boolean> {
    const { clock, journal } = this.#options;
    const until = clock.monotonic() + LONGEST_MS;
    let isSynced = false;
    void synced.then(
      () => {
        isSynced = true;
        this.#busyAt = clock.monotonic();
      },
      () => {},
    );
    for (let before = ''; clock.monotonic() < until; await clock.sleep(POLL_MS, signal)) {
      const plans = JSON.stringify(journal.plans());
      if (plans !== before || this.#inFlight > 0 || !isSynced) this.#busyAt = clock.monotonic();
      if (clock.monotonic() - this.#busyAt >= QUIET_MS) return true;
      before = plans;
    }
    return false;
  }

  #report(isSettled: boolean, providers: readonly OpenedProvider[]): void {
    const { journal, write } = this.#options;
    const plans = journal.plans().toSorted((a, b) => (nameOf(a) < nameOf(b) ? -1 : 1));
    for (const plan of plans) {
      write(`${nameOf(plan)} (${plan.controller})\n${plan.actions.map(linesOf).join('')}`);
    }
    const problems = [
      ...(isSettled ? [] : ['it was still busy after 5 minutes: the plan may not be complete']),
      ...[...this.#lastCodes].filter(([, code]) => FAILED.test(code)).map(([what, code]) => `${what}: ${code}`),
      ...providers
        .filter(({ capabilities }) => Object.values(capabilities).every((one) => one === undefined))
        .map(({ name }) => `${name}: the provider is not open, or has no capabilities`),
    ];
    const actions = plans.reduce((sum, plan) => sum + plan.actions.length, 0);
    for (const problem of problems) write(`Not known: ${oneLine(problem)}\n`);
    write(
      actions === 0
        ? 'Nothing is planned.\n'
        : `Planned: ${count(actions, 'action')} for ${count(plans.length, 'object')}.\n`,
    );
    if (problems.length === 0) this.#code = actions === 0 ? 0 : 2;
  }
}

function linesOf({ changes = [], summary }: NotedAction): string {
  const shown = changes.map(
    ({ field, from = '(none)', to = '(none)' }) => `      ${oneLine(`${field}: ${from} → ${to}`)}\n`,
  );
  return `  + ${oneLine(summary)}\n${shown.join('')}`;
}

function count(many: number, what: string): string {
  return `${many} ${what}${many === 1 ? '' : 's'}`;
}

function nameOf({
  subject: { kind, name },
}: {
  readonly subject: { readonly kind: string; readonly name: string };
}): string {
  return `${kind} ${name}`;
}
