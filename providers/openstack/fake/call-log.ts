/** What the fake was asked, for tests that count. */
import type { FakeService } from './fake-http.ts';

export interface FakeCall {
  readonly service: FakeService;
  /** `GET /servers/{id}`. */
  readonly operation: string;
  /** Path and query, as sent. */
  readonly target: string;
  /** The request's body; `undefined` without. */
  readonly body: unknown;
  /** Milliseconds since the Unix epoch. */
  readonly at: number;
  /** 0 where the connection broke. */
  readonly status: number;
}

export class CallLog {
  #calls: FakeCall[] = [];

  add(call: FakeCall): void {
    this.#calls.push(call);
  }

  all(): readonly FakeCall[] {
    return this.#calls;
  }

  /** `{'compute GET /servers/detail': 10, …}`, by name. */
  counts(): Readonly<Record<string, number>> {
    const counts = new Map<string, number>();
    for (const { service, operation } of this.#calls) {
      const key = `${service} ${operation}`;
      counts.set(key, (counts.get(key) ?? 0) + 1);
    }
    return Object.fromEntries([...counts].sort(([a], [b]) => (a < b ? -1 : 1)));
  }

  reset(): void {
    this.#calls = [];
  }
}
