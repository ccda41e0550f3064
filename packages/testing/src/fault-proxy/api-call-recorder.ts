/** Counts what has been asked: the numbers behind "N nodes cost M calls". */
import { requestInfoOf, type RequestInfo } from './request-info.ts';

/** One request that has passed, or was stopped by a fault. */
export interface ApiCall extends RequestInfo {
  readonly method: string;
  /** With query. */
  readonly path: string;
  readonly userAgent: string;
  /** `undefined` when the client got no answer. */
  readonly status: number | undefined;
  /** Type of the fault that struck. */
  readonly fault: string | undefined;
  /** Which connection of the client carried it, counting from 1. */
  readonly connection: number;
  readonly httpVersion: string;
  /** Bytes of the bodies. */
  readonly requestBytes: number;
  readonly responseBytes: number;
  /** Reading of the clock's `monotonic()`. */
  readonly startedAt: number;
  readonly durationMs: number;
}

/** What is known when a request begins. */
export type StartedCall = Pick<ApiCall, 'method' | 'path' | 'userAgent' | 'connection' | 'httpVersion' | 'startedAt'>;

/** A row of `table()`. */
export interface ApiCallRow {
  readonly verb: string;
  readonly resource: string;
  readonly userAgent: string;
  readonly calls: number;
  readonly failed: number;
  readonly requestBytes: number;
  readonly responseBytes: number;
}

export class ApiCallRecorder {
  readonly #calls: MutableCall[] = [];

  /** Calls in the order in which they began; those that still run are among them. */
  get calls(): readonly ApiCall[] {
    return this.#calls;
  }

  /** Forgets everything, for example what happened before the measurement. */
  clear(): void {
    this.#calls.length = 0;
  }

  begin(call: StartedCall): MutableCall {
    const entry: MutableCall = {
      ...call,
      ...requestInfoOf(call.method, call.path),
      status: undefined,
      fault: undefined,
      requestBytes: 0,
      responseBytes: 0,
      durationMs: 0,
    };
    this.#calls.push(entry);
    return entry;
  }

  /** Calls per key; those with key `undefined` are left out. Default key: `patch nodes/status`. */
  count(keyOf: (call: ApiCall) => string | undefined = kindOf): Record<string, number> {
    const counts: Record<string, number> = {};
    for (const call of this.#calls) {
      const key = keyOf(call);
      if (key !== undefined) counts[key] = (counts[key] ?? 0) + 1;
    }
    return counts;
  }

  /** Calls and bytes by verb, resource and user agent; the most frequent first. */
  table(): readonly ApiCallRow[] {
    const rows = new Map<string, { -readonly [K in keyof ApiCallRow]: ApiCallRow[K] }>();
    for (const call of this.#calls) {
      const resource = resourceOf(call);
      const key = JSON.stringify([call.verb, resource, call.userAgent]);
      const row = rows.get(key) ?? {
        verb: call.verb,
        resource,
        userAgent: call.userAgent,
        calls: 0,
        failed: 0,
        requestBytes: 0,
        responseBytes: 0,
      };
      row.calls++;
      if (call.status === undefined ? call.fault !== undefined : call.status >= 400) row.failed++;
      row.requestBytes += call.requestBytes;
      row.responseBytes += call.responseBytes;
      rows.set(key, row);
    }
    return [...rows.values()].sort((a, b) => b.calls - a.calls);
  }

  /** The table as tab-separated values with a header line. */
  toTsv(): string {
    const columns = ['verb', 'resource', 'userAgent', 'calls', 'failed', 'requestBytes', 'responseBytes'] as const;
    const lines = this.table().map((row) => columns.map((column) => String(row[column])).join('\t'));
    return `${[columns.join('\t'), ...lines].join('\n')}\n`;
  }
}

/** A call that still runs. */
export type MutableCall = { -readonly [K in keyof ApiCall]: ApiCall[K] };

function kindOf(call: ApiCall): string {
  return `${call.verb} ${resourceOf(call)}`;
}

function resourceOf(call: ApiCall): string {
  if (call.resource === undefined) return call.path.split('?')[0] ?? '';
  return call.subresource === undefined ? call.resource : `${call.resource}/${call.subresource}`;
}
