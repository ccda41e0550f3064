/** A provider of several: in use as soon as it can be opened, and nobody waits for it. */
import {
  CloudError,
  type Capabilities,
  type CloudProvider,
  type ConfigText,
  type PredecessorMetrics,
} from '@outrigger/cloud-provider';
import type { Gauge } from '@outrigger/kube';
import type { InstanceLookups } from './instance-lookups.ts';
import type { MakeCallContext } from './make-call-context.ts';
import type { CallRecord } from './call-log.ts';
import { Listeners } from './listeners.ts';
import { openProvider, type OpenedProvider, type OpenProviderOptions } from './open-provider.ts';

const FIRST_PAUSE_MS = 1_000;
const LONGEST_PAUSE_MS = 60_000;

export interface LateProviderOptions extends OpenProviderOptions {
  /** `CloudProvider.name`. */
  readonly name: string;
  /** Makes the provider, anew for each attempt: `open` is called once on each. */
  readonly make: () => Promise<CloudProvider>;
  /** What of its capabilities may be used. Asked whenever they change. Default: all. */
  readonly admit?: (capabilities: Capabilities) => Capabilities;
}

/** Has no capabilities until it is open. */
export interface LateProvider extends OpenedProvider {
  /** Before, it can be neither said that its cloud has something, nor that it has not. */
  readonly isOpen: boolean;
  /** Resolves when the first attempt to open has ended, one way or the other. */
  readonly firstAttempt: Promise<void>;
}

/** Opens in the background: one that fails, or gives no answer, is tried again with back-off, from 1 s to 60 s. Never throws. */
export function openProviderLate(options: LateProviderOptions): LateProvider {
  return new Late(options);
}

class Late implements LateProvider {
  readonly name: string;
  readonly firstAttempt: Promise<void>;
  readonly #options: LateProviderOptions;
  readonly #closed = new AbortController();
  readonly #changed: Listeners<Capabilities>;
  readonly #reconfigured: Listeners<void>;
  readonly #gauge: Gauge | undefined;
  readonly #running: Promise<void>;
  #config: ConfigText | undefined;
  /** Ends the pause between two attempts. */
  #hurry = new AbortController();
  #opened: OpenedProvider | undefined;
  #capabilities: Capabilities = {};
  #disposed: Promise<void> | undefined;

  constructor(options: LateProviderOptions) {
    this.name = options.name;
    this.#options = options;
    this.#config = options.config;
    this.#changed = new Listeners('the capabilities', options.name, options.logger);
    this.#reconfigured = new Listeners('the cloud config', options.name, options.logger);
    this.#gauge = options.metrics?.gauge({
      name: 'outrigger_provider_open',
      help: 'Whether a provider, of several, is open: 1 or 0.',
      labels: ['provider'],
    });
    this.#gauge?.set(0, { provider: this.name });
    const first = Promise.withResolvers<void>();
    this.firstAttempt = first.promise;
    this.#running = this.#run(first.resolve);
  }

  get isOpen(): boolean {
    return this.#opened !== undefined;
  }

  get capabilities(): Capabilities {
    return this.#capabilities;
  }

  get lookups(): InstanceLookups | undefined {
    return this.#opened?.lookups;
  }

  get predecessorMetrics(): PredecessorMetrics | undefined {
    return this.#opened?.predecessorMetrics;
  }

  onCapabilitiesChanged(listener: (capabilities: Capabilities) => void): () => void {
    return this.#changed.add(listener);
  }

  onReconfigured(listener: () => void): () => void {
    return this.#reconfigured.add(listener);
  }

  callContext(options: Parameters<MakeCallContext>[0]): ReturnType<MakeCallContext> {
    if (!this.#opened) throw new CloudError('unavailable', `the provider ${this.name} is not open yet`);
    return this.#opened.callContext(options);
  }

  recentCalls(uid?: string): readonly CallRecord[] {
    return this.#opened?.recentCalls(uid) ?? [];
  }

  /** Before it is open: what it is opened with next, at once. */
  reconfigure(config: ConfigText): Promise<void> {
    if (this.#opened) return this.#opened.reconfigure(config);
    this.#config = config;
    this.#hurry.abort();
    return Promise.resolve();
  }

  watchedFiles(): readonly string[] {
    return this.#opened?.watchedFiles() ?? [];
  }

  redact(text: string): string {
    return this.#opened?.redact(text) ?? text;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return (this.#disposed ??= this.#close());
  }

  async #close(): Promise<void> {
    this.#closed.abort(new CloudError('unavailable', `the provider ${this.name} is closed`));
    await this.#running;
    await this.#opened?.[Symbol.asyncDispose]();
  }

  async #run(attempted: () => void): Promise<void> {
    const { clock, logger, random, signal: caller } = this.#options;
    const signal = caller ? AbortSignal.any([caller, this.#closed.signal]) : this.#closed.signal;
    for (let pauseMs = FIRST_PAUSE_MS; !signal.aborted; pauseMs = Math.min(LONGEST_PAUSE_MS, pauseMs * 2)) {
      this.#hurry = new AbortController();
      try {
        await this.#open(signal);
        attempted();
        return;
      } catch (error) {
        attempted();
        if (signal.aborted) return;
        const retryInMs = Math.round(pauseMs * (1 + random() / 4));
        logger.warn('The provider could not be opened; the others go on without it, and it is tried again', {
          provider: this.name,
          retryIn: `${retryInMs}ms`,
          error,
        });
        await clock.sleep(retryInMs, AbortSignal.any([signal, this.#hurry.signal])).catch(() => undefined);
      }
    }
    attempted();
  }

  async #open(signal: AbortSignal): Promise<void> {
    const { logger, make } = this.#options;
    let config = this.#config;
    const opened = await openProvider(await make(), { ...this.#options, config, signal });
    // It has changed meanwhile. A refused one leaves the old one in use, as ever.
    while (!signal.aborted && this.#config && this.#config !== config) {
      config = this.#config;
      await opened.reconfigure(config).catch((error: unknown) => {
        logger.warn('The changed cloud config is refused', { provider: this.name, error });
      });
    }
    if (signal.aborted) return opened[Symbol.asyncDispose]();
    this.#opened = opened;
    opened.onCapabilitiesChanged((capabilities) => this.#change(capabilities));
    opened.onReconfigured(() => this.#reconfigured.tell());
    this.#gauge?.set(1, { provider: this.name });
    logger.info('The provider is open', { provider: this.name });
    this.#change(opened.capabilities);
  }

  #change(given: Capabilities): void {
    this.#capabilities = this.#options.admit?.(given) ?? given;
    this.#changed.tell(this.#capabilities);
  }
}
