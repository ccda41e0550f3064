/** A provider in use: opened with its host, its calls under one budget, its look-ups shared. */
import {
  CloudError,
  isCloudError,
  type CallContext,
  type Capabilities,
  type CloudProvider,
  type PredecessorMetrics,
  type ClusterIdentity,
  type ConfigText,
  type Instances,
  type ProviderHost,
  type SecretOptions,
} from '@outrigger/cloud-provider';
import { withDeadline, type Clock, type Logger, type Metrics } from '@outrigger/kube';
import type { CallBudgetOptions } from './call-budget.ts';
import type { CallRecord } from './call-log.ts';
import { checkCapabilities } from './capabilities-check.ts';
import { CloudCaller, closedError, type EndedRequest, type RequestLeadership } from './cloud-caller.ts';
import { createInstanceLookups, type InstanceLookups } from './instance-lookups.ts';
import { Listeners } from './listeners.ts';
import type { MakeCallContext } from './make-call-context.ts';
import { readOnlyCapabilities, type ReadOnlyViews } from './read-only-capabilities.ts';
import { redactingLogger } from './redacting-logger.ts';
import { Secrets } from './secrets.ts';

export interface OpenProviderOptions {
  readonly cluster: ClusterIdentity;
  /** `--cloud-config`. */
  readonly config?: ConfigText | undefined;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly metrics?: Metrics;
  /** 0 ≤ x < 1, for jitter. */
  readonly random: () => number;
  /** Each request to the cloud is sent under it: none starts without, and its release waits for them. Default: nothing is refused. */
  readonly leadership?: RequestLeadership | undefined;
  /** Set (a dry run): calls of the contract that change something are refused, and told here. Default: nothing is refused. */
  readonly onWriteRefused?: ((call: string) => void) | undefined;
  readonly budget?: CallBudgetOptions;
  /** Told of each secret that the provider names, for the logs of those who use it. */
  readonly onSecret?: (secret: string, options?: SecretOptions) => void;
  /** Told of each request to the cloud that has ended, from while the provider opens. Must not throw. Default: nobody is. */
  readonly onRequest?: ((request: EndedRequest) => void) | undefined;
  /** Limit of one contract call. Default: 60,000. */
  readonly callTimeoutMs?: number;
  /** Gives up opening. */
  readonly signal?: AbortSignal;
}

export interface OpenedProvider extends AsyncDisposable {
  readonly name: string;
  /** While it is open; see `CloudProvider`. */
  readonly predecessorMetrics?: PredecessorMetrics | undefined;
  /** What the provider can do now. */
  readonly capabilities: Capabilities;
  /** Hears of later capabilities. Returns the way to stop. */
  onCapabilitiesChanged(listener: (capabilities: Capabilities) => void): () => void;
  /** Hears of each changed cloud config that was taken. Returns the way to stop. */
  onReconfigured(listener: () => void): () => void;
  /** Look-ups of the instances; `undefined` while the provider has none. A new object after its `instances` changed. */
  readonly lookups: InstanceLookups | undefined;
  /** Makes the context of one contract call. Aborts when the provider is closed too. */
  callContext(options: Parameters<MakeCallContext>[0]): CallContext;
  /** The last requests to the cloud, newest last: 256 of all, or with a UID 8 of those for this object. */
  recentCalls(uid?: string): readonly CallRecord[];
  /** Hands over a changed cloud config. Rejects with what is wrong; then the old one stays in use. */
  reconfigure(config: ConfigText): Promise<void>;
  /** The files beside the cloud config that its provider wants to be watched. */
  watchedFiles(): readonly string[];
  /** Replaces the secrets that the provider has named in a text that is to be shown. */
  redact(text: string): string;
}

/**
 * Makes a provider's host, opens it, and gives back what the controllers use. Rejects with what `open` threw (after `close`),
 * with `timeout` when it does not come back, and with `invalid` for capabilities that break the contract.
 */
export async function openProvider(provider: CloudProvider, options: OpenProviderOptions): Promise<OpenedProvider> {
  const opened = new Opened(provider, options);
  try {
    await opened.open(options.signal);
  } catch (error) {
    opened.secrets.redactError(error);
    await opened[Symbol.asyncDispose]();
    throw error;
  }
  return opened;
}

const DEFAULT_CALL_TIMEOUT_MS = 60_000;

class Opened implements OpenedProvider {
  readonly name: string;
  readonly predecessorMetrics: PredecessorMetrics | undefined;
  readonly secrets: Secrets = new Secrets();
  readonly #provider: CloudProvider;
  readonly #options: OpenProviderOptions;
  readonly #logger: Logger;
  readonly #caller: CloudCaller;
  readonly #closed = new AbortController();
  readonly #changed: Listeners<Capabilities>;
  readonly #reconfigured: Listeners<void>;
  readonly #views: ReadOnlyViews = new WeakMap();
  #capabilities: Capabilities = {};
  #lookups: InstanceLookups | undefined;
  /** What `capabilitiesChanged` said before `open` had returned. */
  #early: Capabilities | undefined;
  #isOpen = false;
  #isWatchFailing = false;
  #reconfiguring: Promise<void> = Promise.resolve();
  #disposed: Promise<void> | undefined;

  constructor(provider: CloudProvider, options: OpenProviderOptions) {
    this.name = provider.name;
    this.#provider = provider;
    this.#options = options;
    this.#logger = redactingLogger(options.logger, this.secrets);
    this.#changed = new Listeners('the capabilities', provider.name, this.#logger);
    this.#reconfigured = new Listeners('the cloud config', provider.name, this.#logger);
    this.#caller = new CloudCaller({
      ...options,
      providerName: provider.name,
      predecessor: provider.predecessorMetrics?.requests,
      secrets: this.secrets,
    });
    this.predecessorMetrics = provider.predecessorMetrics;
  }

  get capabilities(): Capabilities {
    return this.#capabilities;
  }

  get lookups(): InstanceLookups | undefined {
    return this.#lookups;
  }

  async open(signal: AbortSignal | undefined): Promise<void> {
    const { cluster, clock, config } = this.#options;
    const host: ProviderHost = {
      cluster,
      clock,
      logger: this.#logger,
      config,
      callContext: ({ priority = 'background', signal } = {}) =>
        this.callContext({ priority, signal: signal ?? this.#closed.signal }),
      capabilitiesChanged: (capabilities) => {
        if (this.#isOpen) this.#change(capabilities);
        else this.#early = capabilities;
      },
      redact: (secret, options) => {
        this.secrets.add(secret, options);
        this.#options.onSecret?.(secret, options);
      },
    };
    const what = `opening the provider ${this.name}`;
    const capabilities = await this.#within(what, signal, async () => {
      try {
        return await this.#provider.open(host);
      } catch (error) {
        if (isCloudError(error) || signal?.aborted) throw error;
        // Nobody wrote this message for an operator: it must at least say whose it is.
        const message = error instanceof Error ? error.message : String(error);
        throw new CloudError('configuration', `${what} failed: ${message}`, { cause: error });
      }
    });
    this.#isOpen = true;
    this.#change(this.#early ?? capabilities);
  }

  onCapabilitiesChanged(listener: (capabilities: Capabilities) => void): () => void {
    return this.#changed.add(listener);
  }

  onReconfigured(listener: () => void): () => void {
    return this.#reconfigured.add(listener);
  }

  callContext({
    signal: caller,
    priority,
    logger,
    about,
    maxAttempts,
    reads,
  }: Parameters<MakeCallContext>[0]): CallContext {
    const signal = caller === this.#closed.signal ? caller : AbortSignal.any([caller, this.#closed.signal]);
    return {
      signal,
      priority,
      logger: logger ? redactingLogger(logger, this.secrets) : this.#logger,
      call: (operation, send) => this.#caller.call(operation, send, { signal, priority, reads, about, maxAttempts }),
    };
  }

  recentCalls(uid?: string): readonly CallRecord[] {
    return this.#caller.log.list(uid);
  }

  reconfigure(config: ConfigText): Promise<void> {
    const attempt = this.#reconfiguring.then(() => this.#reconfigure(config));
    this.#reconfiguring = attempt.catch(() => undefined);
    return attempt;
  }

  watchedFiles(): readonly string[] {
    try {
      const files: unknown = this.#isOpen ? (this.#provider.watchedFiles?.() ?? []) : [];
      if (Array.isArray(files) && files.every((one) => typeof one === 'string')) return files;
      throw new CloudError('invalid', `the provider ${this.name}: watchedFiles must give a list of file names`);
    } catch (error) {
      if (!this.#isWatchFailing) this.#logger.error('The provider does not say which files to watch', { error });
      this.#isWatchFailing = true;
      return [];
    }
  }

  redact(text: string): string {
    return this.secrets.redact(text);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return (this.#disposed ??= this.#close());
  }

  async #reconfigure(config: ConfigText): Promise<void> {
    this.#closed.signal.throwIfAborted();
    const provider = this.#provider;
    if (!provider.reconfigure) {
      throw new CloudError(
        'configuration',
        `${config.fileName} has changed; the provider ${this.name} reads it at start only: restart`,
      );
    }
    const what = `reconfiguring the provider ${this.name} from ${config.fileName}`;
    try {
      await this.#within(what, undefined, (signal) =>
        (provider.reconfigure as NonNullable<CloudProvider['reconfigure']>)(
          config,
          this.callContext({ signal, priority: 'normal' }),
        ),
      );
    } catch (error) {
      this.secrets.redactError(error);
      throw error;
    }
    this.#reconfigured.tell();
  }

  #change(given: Capabilities): void {
    if (this.#closed.signal.aborted) return;
    checkCapabilities(this.name, given);
    const { onWriteRefused } = this.#options;
    const capabilities = onWriteRefused ? readOnlyCapabilities(given, this.#views, onWriteRefused) : given;
    if (Object.values(capabilities).every((one) => one === undefined)) {
      const text = 'The provider has no capabilities: no controller uses it until it reports some';
      this.#logger.warn(text, { provider: this.name });
    }
    const { instances } = capabilities;
    if (instances !== this.#capabilities.instances) {
      // Those who wait are told; the controllers that were given these look-ups are stopped by `onCapabilitiesChanged`.
      void this.#lookups?.[Symbol.asyncDispose]();
      this.#lookups = instances && this.#createLookups(instances);
    }
    this.#capabilities = capabilities;
    this.#changed.tell(capabilities);
  }

  #createLookups(instances: Instances): InstanceLookups {
    return createInstanceLookups({
      ...this.#options,
      logger: this.#logger,
      instances,
      providerName: this.name,
      callContext: (options) => this.callContext(options),
    });
  }

  #within<T>(what: string, caller: AbortSignal | undefined, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const { clock, callTimeoutMs = DEFAULT_CALL_TIMEOUT_MS } = this.#options;
    const { signal: closed } = this.#closed;
    const signal = caller ? AbortSignal.any([caller, closed]) : closed;
    const late = (cause: Error): CloudError =>
      new CloudError('timeout', `${what}: no end within ${callTimeoutMs} ms`, { cause });
    return withDeadline({ clock, timeoutMs: callTimeoutMs, what, signal, late }, work);
  }

  async #close(): Promise<void> {
    await this.#lookups?.[Symbol.asyncDispose]();
    this.#closed.abort(closedError(this.name));
    await this.#reconfiguring;
    const { clock, callTimeoutMs = DEFAULT_CALL_TIMEOUT_MS } = this.#options;
    const what = `closing the provider ${this.name}`;
    try {
      await withDeadline({ clock, timeoutMs: callTimeoutMs, what }, () => this.#provider.close());
    } catch (error) {
      this.#logger.warn('The provider did not close cleanly', { provider: this.name, error });
    }
  }
}
