/** Named health checks behind /healthz, /livez and /readyz, answered in the words of k8s.io/apiserver. */

import type { Metrics } from '@outrigger/kube';

/** `live`: restart me when it fails. `ready`: send me no work. `/healthz` runs all of them. */
export type HealthKind = 'live' | 'ready';

export interface HealthCheck {
  /** One word or kebab-case. */
  readonly name: string;
  /** Default: both. */
  readonly kinds?: readonly HealthKind[];
  /** Throws when it is not well; the message is logged, and never served. */
  check(): void | Promise<void>;
  /** What `?verbose` adds to a check that passes: whoever may reach the port reads it. Default: nothing. */
  detail?(): string | undefined;
}

export type HealthEndpoint = 'healthz' | 'livez' | 'readyz';

export interface HealthReport {
  readonly healthy: boolean;
  /** What is served. */
  readonly text: string;
  readonly failures: readonly { readonly name: string; readonly error: unknown }[];
}

export class HealthChecks {
  readonly #results: HealthResults | undefined;
  readonly #checks = new Map<string, HealthCheck>([['ping', { name: 'ping', check: () => {} }]]);

  /** `metrics`: where the results are counted, for `/metrics/slis`. Default: nowhere. */
  constructor(options: { readonly metrics?: Metrics } = {}) {
    this.#results = options.metrics && countResults(options.metrics);
  }

  /** Adds a check; returns the way to take it back. Throws a `TypeError` for a name that is taken. */
  add(check: HealthCheck): () => void {
    if (this.#checks.has(check.name)) throw new TypeError(`health check ${check.name} exists already`);
    this.#checks.set(check.name, check);
    return () => void this.#checks.delete(check.name);
  }

  /** Runs one check. `undefined` when there is none of that name at this endpoint. */
  async runOne(endpoint: HealthEndpoint, name: string): Promise<HealthReport | undefined> {
    const check = this.#of(endpoint).find((check) => check.name === name);
    if (check === undefined) return undefined;
    const error = await failureOf(check);
    return error === undefined
      ? { healthy: true, text: 'ok', failures: [] }
      : {
          healthy: false,
          text: 'internal server error: reason withheld\n',
          failures: [{ name, error: error.reason }],
        };
  }

  async run(
    endpoint: HealthEndpoint,
    options: { readonly exclude?: readonly string[]; readonly verbose?: boolean } = {},
  ): Promise<HealthReport> {
    const exclude = new Set(options.exclude);
    const lines: string[] = [];
    const failures: { name: string; error: unknown }[] = [];
    for (const check of this.#of(endpoint)) {
      if (exclude.delete(check.name)) {
        lines.push(`[+]${check.name} excluded: ok`);
        continue;
      }
      const error = await failureOf(check);
      this.#results?.(check.name, endpoint, error === undefined);
      if (error === undefined) {
        const detail = check.detail?.();
        lines.push(`[+]${check.name} ok${detail === undefined ? '' : ` (${detail})`}`);
      } else {
        lines.push(`[-]${check.name} failed: reason withheld`);
        failures.push({ name: check.name, error: error.reason });
      }
    }
    if (exclude.size > 0) {
      const names = [...exclude].map((name) => JSON.stringify(name)).join(',');
      lines.push(`warn: some health checks cannot be excluded: no matches for ${names}`);
    }
    const healthy = failures.length === 0;
    if (healthy && !options.verbose) return { healthy, text: 'ok', failures };
    lines.push(`${endpoint} check ${healthy ? 'passed' : 'failed'}`);
    return { healthy, text: `${lines.join('\n')}\n`, failures };
  }

  #of(endpoint: HealthEndpoint): readonly HealthCheck[] {
    const all = [...this.#checks.values()];
    if (endpoint === 'healthz') return all;
    const kind = endpoint === 'livez' ? 'live' : 'ready';
    return all.filter((check) => check.kinds?.includes(kind) ?? true);
  }
}

type HealthResults = (name: string, endpoint: HealthEndpoint, healthy: boolean) => void;

/** Upstream's service level indicators: KEP-3466. Counted when all checks of an endpoint are asked for, as upstream. */
function countResults(metrics: Metrics): HealthResults {
  const last = metrics.gauge({
    name: 'kubernetes_healthcheck',
    help: 'Result of the last run of a health check: 1 or 0.',
    labels: ['name', 'type'],
  });
  const total = metrics.counter({
    name: 'kubernetes_healthchecks_total',
    help: 'Runs of health checks by their result.',
    labels: ['name', 'type', 'status'],
  });
  return (name, type, healthy) => {
    last.set(healthy ? 1 : 0, { name, type });
    total.inc({ name, type, status: healthy ? 'success' : 'error' });
  };
}

async function failureOf(check: HealthCheck): Promise<{ readonly reason: unknown } | undefined> {
  try {
    await check.check();
    return undefined;
  } catch (reason) {
    return { reason };
  }
}
