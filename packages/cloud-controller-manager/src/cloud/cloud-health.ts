/**
 * Whether each cloud answers and takes the credentials, from what becomes of the requests that are sent anyway: told at once, in the log, a
 * metric, the verbose health page and an Event. Readiness does not depend on it: a restart mends no cloud.
 */
import type { EndedRequest } from '@outrigger/cloud-runtime';
import type { HealthChecks } from '@outrigger/controller-manager';
import type { Clock, EventNote, Gauge, Logger, Metrics } from '@outrigger/kube';

/** What says that the service, or the way to it, fails, and not one request. */
const FAILING = new Set(['unauthenticated', 'http-401', 'unavailable', 'timeout']);
/** Of these the first one counts: a provider has renewed its token before it says so. The others have to come twice in a row. */
const CERTAIN = new Set(['unauthenticated']);
/** Not the cloud's answer. */
const OURS = new Set(['aborted', 'error', 'configuration']);

interface ServiceState {
  failures: number;
  /** While it fails. */
  since?: number;
  code?: string;
}

export interface CloudHealthOptions {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly metrics: Metrics;
  readonly health: Pick<HealthChecks, 'add'>;
  /** Is handed what a person should see beside the log. */
  readonly onEvent: (note: EventNote) => void;
}

export class CloudHealth {
  readonly #options: CloudHealthOptions;
  readonly #gauge: Gauge;

  constructor(options: CloudHealthOptions) {
    this.#options = options;
    this.#gauge = options.metrics.gauge({
      name: 'outrigger_cloud_answers',
      help: 'Whether a service of a cloud answers and accepts the credentials: 1, or 0 after requests that failed.',
      labels: ['provider', 'service'],
    });
  }

  /** Hears of each request to this provider's cloud. */
  follow(provider: string): (request: EndedRequest) => void {
    const services = new Map<string, ServiceState>();
    this.#options.health.add({
      name: `cloud-${provider}`,
      kinds: ['ready'],
      check: () => {},
      detail: () => detailOf(services),
    });
    return (request) => {
      const { bucket: service, code } = request;
      if (OURS.has(code)) return;
      let state = services.get(service);
      if (!state) {
        state = { failures: 0 };
        services.set(service, state);
        this.#gauge.set(1, { provider, service });
      }
      if (FAILING.has(code)) this.#failed(provider, request, state);
      else this.#answered(provider, request, state);
    };
  }

  #failed(provider: string, { bucket: service, code, operation }: EndedRequest, state: ServiceState): void {
    state.failures++;
    if (!CERTAIN.has(code) && state.failures < 2) return;
    const refused = code === 'unauthenticated' || code === 'http-401';
    const isTold = state.since !== undefined && refused === (state.code === 'unauthenticated');
    state.code = refused ? 'unauthenticated' : code;
    if (isTold) return;
    const { clock, logger, onEvent } = this.#options;
    state.since ??= clock.now();
    this.#gauge.set(0, { provider, service });
    const what = refused ? 'refuses the credentials' : 'does not answer';
    const todo = refused
      ? 'correct the credentials in its cloud config, which is read again'
      : 'check the cloud, a proxy and DNS; requests are retried';
    logger.warn(`The cloud ${what}`, { provider, service, operation, code, remedy: todo });
    const message = `The cloud ${provider} ${what} (${operation}: ${code}): new nodes, Services and routes wait, nothing is deleted. To do: ${todo}.`;
    onEvent({ type: 'Warning', reason: refused ? 'CloudCredentialsRefused' : 'CloudUnreachable', message });
  }

  #answered(provider: string, { bucket: service }: EndedRequest, state: ServiceState): void {
    state.failures = 0;
    if (state.since === undefined) return;
    const { clock, logger, onEvent } = this.#options;
    const failedFor = `${Math.round((clock.now() - state.since) / 1000)}s`;
    delete state.since;
    delete state.code;
    this.#gauge.set(1, { provider, service });
    logger.info('The cloud answers again', { provider, service, failedFor });
    onEvent({ type: 'Normal', reason: 'CloudAnswers', message: `The cloud ${provider} answers again.` });
  }
}

function detailOf(services: ReadonlyMap<string, ServiceState>): string | undefined {
  const failing = [...services].flatMap(([service, { code, since }]) =>
    since === undefined ? [] : [`${service}: ${code ?? ''} since ${new Date(since).toISOString()}`],
  );
  return failing.length === 0 ? undefined : `failing: ${failing.join(', ')}`;
}
