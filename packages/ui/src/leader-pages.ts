/** The pages of the manager that leads, over one connection as long as it leads. */
import { askPage, PageError, type AskedPage } from '@outrigger/cloud-controller-manager';
import { createTransport, withDeadline, type Clock, type ClusterConfig, type Transport } from '@outrigger/kube';

export interface LeaderPagesOptions {
  /** Where it is, and as whom to ask it. Throws an `Error` of one line where there is none. */
  readonly find: (signal: AbortSignal) => Promise<ClusterConfig>;
  readonly clock: Clock;
  /** How long to wait for an answer, in milliseconds. */
  readonly timeoutMs: number;
}

interface Found {
  readonly server: string;
  readonly transport: Transport;
}

export class LeaderPages implements AsyncDisposable {
  readonly #options: LeaderPagesOptions;
  readonly #stop = new AbortController();
  #found: Promise<Found> | undefined;
  #url = '';

  constructor(options: LeaderPagesOptions) {
    this.#options = options;
  }

  /** Of the leader that was found last; '' before. */
  get url(): string {
    return this.#url;
  }

  /** Throws an `Error` of one line. After a failure the leader is found anew: another may lead. */
  async ask(path: string, signal: AbortSignal, etag?: string): Promise<AskedPage> {
    const { clock, timeoutMs } = this.#options;
    return withDeadline({ clock, timeoutMs, what: 'asking the manager', signal }, async (limited) => {
      const found = (this.#found ??= this.#find());
      try {
        const { server, transport } = await found;
        return await askPage(transport, server, path, { signal: limited, etag });
      } catch (error) {
        // An answer about one object is no reason: the next question would find the same leader. Nor is it that who asked has gone: others ask.
        const isOfObject = error instanceof PageError && error.status === 404;
        if (this.#found === found && error !== signal.reason && !isOfObject) await this.#forget();
        throw error;
      }
    });
  }

  /** For all who ask, so that none of them ends it. */
  async #find(): Promise<Found> {
    const { clock, find, timeoutMs } = this.#options;
    const deadline = { clock, timeoutMs, what: 'looking for the leader', signal: this.#stop.signal };
    const config = await withDeadline(deadline, find);
    this.#url = config.server;
    return { server: config.server, transport: createTransport(config, { clock, retry: false }) };
  }

  async #forget(): Promise<void> {
    const found = this.#found;
    this.#found = undefined;
    const transport = await found?.then(
      (one) => one.transport,
      () => undefined,
    );
    await transport?.[Symbol.asyncDispose]();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort();
    await this.#forget();
  }
}
