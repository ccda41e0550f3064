/**
 * What goes wrong between a provider and its cloud, at the one place through which each request goes (`call.call`): it fails, its answer is lost,
 * it hangs, or the program dies around it. That works for every provider, whatever its cloud speaks.
 */
import {
  CloudError,
  type CallContext,
  type CloudErrorCode,
  type CloudOperation,
  type CloudProvider,
  type ProviderHost,
} from '@outrigger/cloud-provider';
import { whenAborted } from '@outrigger/kube';

/** The member of the contract in which a request was sent; `background`: the provider's own work. */
export type Member = string;

export interface SentOperation {
  readonly member: Member;
  readonly operation: CloudOperation;
  /** From 1, of those of its member since the fault was set. */
  readonly nth: number;
}

/**
 * - `fail`: it does not reach the cloud.
 * - `lose`: the cloud carries it out, and the answer does not arrive.
 * - `hang`: it is not sent, and ends only with its signal.
 * - `crash`: it is carried out, and from then on this process sends nothing more.
 */
export type RequestFault =
  | { readonly kind: 'fail'; readonly code: CloudErrorCode; readonly retryAfterMs?: number | undefined }
  | { readonly kind: 'lose' | 'hang' | 'crash' };

export class RequestFaults {
  /** All requests, in their order. */
  readonly log: SentOperation[] = [];
  /** Those that are under way at the cloud. */
  busy: number = 0;
  /** Those that hang. */
  hanging: number = 0;
  #rule: (sent: SentOperation) => RequestFault | undefined = () => undefined;
  #counts = new Map<Member, number>();
  #isDead = false;

  /** The rule that is asked for each request from now on. Default: none. Ends a crash too. */
  set(rule: (sent: SentOperation) => RequestFault | undefined = () => undefined): void {
    this.#rule = rule;
    this.#counts = new Map();
    this.#isDead = false;
  }

  /** How many requests a member has sent since the last `set`. */
  count(member: Member): number {
    return this.#counts.get(member) ?? 0;
  }

  /** The process dies when the cloud has carried out so many requests of this member; with 0, before the first. */
  crashAfter(count: number, member: Member = 'apply'): void {
    this.set((sent) => (sent.member === member && sent.nth === count ? { kind: 'crash' } : undefined));
    this.#isDead = count === 0;
  }

  /** The context of one call, whose requests go through here. */
  context(call: CallContext, member: Member): CallContext {
    const { logger, priority, signal } = call;
    return {
      signal,
      priority,
      logger,
      call: (operation, send) => call.call(operation, (cut) => this.#send(member, operation, send, cut)),
    };
  }

  /** The provider, with its own work going through here too. */
  around(provider: CloudProvider): CloudProvider {
    const { buckets, name, permissions, predecessorMetrics } = provider;
    const open = (host: ProviderHost): ReturnType<CloudProvider['open']> => {
      return provider.open({
        ...host,
        callContext: (options) => this.context(host.callContext(options), 'background'),
      });
    };
    return {
      name,
      ...(permissions && { permissions }),
      ...(buckets && { buckets }),
      predecessorMetrics,
      open,
      ...(provider.checkConfig && { checkConfig: (config) => provider.checkConfig?.(config) ?? Promise.resolve() }),
      ...(provider.reconfigure && {
        reconfigure: (config, call) =>
          provider.reconfigure?.(config, this.context(call, 'reconfigure')) ?? Promise.resolve(),
      }),
      ...(provider.watchedFiles && { watchedFiles: () => provider.watchedFiles?.() ?? [] }),
      close: () => provider.close(),
    };
  }

  async #send<T>(
    member: Member,
    operation: CloudOperation,
    send: (signal: AbortSignal) => Promise<T>,
    signal: AbortSignal,
  ): Promise<T> {
    if (this.#isDead) throw crashed();
    const nth = this.count(member) + 1;
    this.#counts.set(member, nth);
    const sent = { member, operation, nth };
    this.log.push(sent);
    const fault = this.#rule(sent);
    switch (fault?.kind) {
      case undefined:
        return this.#reach(send, signal);
      case 'fail':
        throw new CloudError(fault.code, `${operation.name}: a failure of the suite`, {
          retryAfterMs: fault.retryAfterMs,
        });
      case 'hang':
        return this.#hang(signal);
      case 'crash':
        try {
          await this.#reach(send, signal);
        } finally {
          this.#isDead = true;
        }
        throw crashed();
      default:
        await this.#reach(send, signal);
        throw new CloudError('unavailable', `${operation.name}: the answer was lost`, { effect: 'unknown' });
    }
  }

  async #reach<T>(send: (signal: AbortSignal) => Promise<T>, signal: AbortSignal): Promise<T> {
    this.busy++;
    try {
      return await send(signal);
    } finally {
      this.busy--;
    }
  }

  async #hang(signal: AbortSignal): Promise<never> {
    this.hanging++;
    try {
      await whenAborted(signal);
      throw signal.reason;
    } finally {
      this.hanging--;
    }
  }
}

function crashed(): CloudError {
  return new CloudError('unavailable', 'the process has died', { effect: 'unknown' });
}
