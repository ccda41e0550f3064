/** The HTTP/2 connections of one traffic class: one, and more when its streams run out. */
import { onAbort, raceAbort } from '../abort.ts';
import type { TransportResponse } from '../transport.ts';
import type { H2Session } from './h2-session.ts';
import type { RequestScope } from './request-scope.ts';
import { isTransportError, type TransportError } from './transport-error.ts';

/** Beyond these, requests wait for a stream: an API server has better things to do than to keep our connections. */
const MAX_SESSIONS = 8;
/** A server that is going away refuses what it has not begun; the request is sent again on another connection. */
const MAX_REFUSALS = 3;

/** Opens a connection whose end is told to `onEnd`, or resolves to `undefined` when the server speaks no HTTP/2. */
export type OpenSession = (onEnd: (session: H2Session) => void) => Promise<H2Session | undefined>;

export class H2Pool {
  readonly #open: OpenSession;
  readonly #sessions = new Set<H2Session>();
  /** Not taking requests yet, or still finishing what they began. */
  readonly #others = new Set<H2Session>();
  #opening: Promise<H2Session | undefined> | undefined;
  /** Requests that found every stream taken, in the order in which they came. */
  readonly #waiting = new Set<() => void>();
  /** Requests that are not yet on a connection. */
  #placing = 0;
  #drained = false;

  constructor(open: OpenSession) {
    this.#open = open;
  }

  /** Connections that take requests. */
  get size(): number {
    return this.#sessions.size;
  }

  /** Sends the request, or resolves to `undefined`, having sent nothing, when the server speaks no HTTP/2. */
  async send(scope: RequestScope, pathPrefix: string): Promise<TransportResponse | undefined> {
    for (let refusals = 0; ; refusals++) {
      try {
        return await (
          await this.#place(scope, pathPrefix)
        )?.answer;
      } catch (error) {
        const refused = isTransportError(error) && error.code === 'request-refused';
        if (!refused || scope.failure || refusals >= MAX_REFUSALS) throw error;
      }
    }
  }

  /** Takes no more requests; those that came before are sent, and the connections close when theirs are done. */
  drain(): void {
    this.#drained = true;
    this.#closeIfDrained();
  }

  destroy(reason: TransportError): void {
    for (const session of [...this.#sessions, ...this.#others]) session.destroy(reason);
    this.#others.clear();
    void this.#opening?.then(
      (session) => session?.destroy(reason),
      () => undefined,
    );
  }

  /**
   * Waits for a connection with a free stream and puts the request on it. In an object, so that the answer is not waited
   * for. Never left to the connection's own queue: between the last question (`beforeSend`) and the wire nothing may wait.
   */
  async #place(
    scope: RequestScope,
    pathPrefix: string,
  ): Promise<{ readonly answer: Promise<TransportResponse> } | undefined> {
    this.#placing += 1;
    try {
      // Who comes later does not overtake.
      if (this.#waiting.size > 0) await this.#room(scope.signal);
      for (;;) {
        const session = this.#pick();
        if (session) return { answer: session.request(scope, pathPrefix) };
        if (this.#sessions.size >= MAX_SESSIONS) await this.#room(scope.signal);
        else if (!(await raceAbort(this.#another(), scope.signal))) return undefined;
      }
    } finally {
      this.#placing -= 1;
      this.#wakeNext();
      this.#closeIfDrained();
    }
  }

  #another(): Promise<H2Session | undefined> {
    this.#opening ??= this.#open((ended) => this.#forget(ended)).then(
      async (opened) => {
        if (opened) await this.#prepare(opened);
        this.#opening = undefined;
        this.#closeIfDrained();
        return opened;
      },
      (error: unknown) => {
        this.#opening = undefined;
        throw error;
      },
    );
    return this.#opening;
  }

  /** What goes beyond the streams that the peer takes would be refused, or wait where `beforeSend` is not asked again. */
  async #prepare(session: H2Session): Promise<void> {
    session.onRoom(() => this.#wakeNext());
    this.#others.add(session);
    try {
      await session.ready;
    } finally {
      this.#others.delete(session);
    }
    this.#sessions.add(session);
  }

  async #room(signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    await new Promise<void>((resolve, reject) => {
      const wake = (): void => {
        forget();
        resolve();
      };
      const forget = onAbort(signal, () => {
        this.#waiting.delete(wake);
        reject(signal.reason as Error);
      });
      this.#waiting.add(wake);
    });
  }

  /** One at a time: who is woken wakes the next one when it has been placed, or has given up. */
  #wakeNext(): void {
    const [wake] = this.#waiting;
    if (!wake || (this.#sessions.size >= MAX_SESSIONS && !this.#pick())) return;
    this.#waiting.delete(wake);
    wake();
  }

  #closeIfDrained(): void {
    if (this.#drained && this.#placing === 0) for (const session of this.#sessions) session.drain();
  }

  /** The first one with room, not the emptiest: connections beyond the first fall idle again after a burst. */
  #pick(): H2Session | undefined {
    for (const session of this.#sessions) if (session.usable && session.hasRoom) return session;
    return undefined;
  }

  #forget(session: H2Session): void {
    this.#sessions.delete(session);
    for (const old of this.#others) if (old.open === 0) this.#others.delete(old);
    if (session.open > 0) this.#others.add(session);
    this.#wakeNext();
  }
}
