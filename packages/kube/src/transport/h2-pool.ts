/** The HTTP/2 connections of one traffic class: one, and more when its streams run out. */
import { onAbort, raceAbort } from '../abort.ts';
import type { Clock } from '../clock.ts';
import type { TransportResponse } from '../transport.ts';
import type { H2Session } from './h2-session.ts';
import type { RequestScope } from './request-scope.ts';
import { isTransportError, type TransportError } from './transport-error.ts';

/** Beyond these, requests wait for a stream: an API server has better things to do than to keep our connections. */
const MAX_SESSIONS = 8;
/** A server that is going away refuses what it has not begun; the request is sent again on another connection. */
const MAX_REFUSALS = 3;

/** While a connection is being made for longer than this, another is tried beside it: its SYN or its handshake may be lost. */
const SLOW_MS = 2_000;
const MAX_OPENINGS = 2;

/**
 * Opens a connection that can take requests, and calls `onEnd` when it ends. Resolves to `undefined` when the server speaks no
 * HTTP/2, and comes to an end within a time of its own.
 */
export type OpenSession = (onEnd: (session: H2Session) => void) => Promise<H2Session | undefined>;

/** A connection that is being made. */
interface Opening {
  /** Monotonic. */
  readonly since: number;
  readonly session: Promise<H2Session | undefined>;
}

export class H2Pool {
  readonly #open: OpenSession;
  readonly #clock: Clock;
  readonly #sessions = new Set<H2Session>();
  /** Take no more requests, and still finish what they began. */
  readonly #others = new Set<H2Session>();
  readonly #openings = new Set<Opening>();
  /** Requests that found every stream taken, in the order in which they came. */
  readonly #waiting = new Set<() => void>();
  /** Requests that are not yet on a connection. */
  #placing = 0;
  #drained = false;

  constructor(open: OpenSession, clock: Clock) {
    this.#open = open;
    this.#clock = clock;
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

  /** Those that are being made are ended by whoever opens them. */
  destroy(reason: TransportError): void {
    for (const session of [...this.#sessions, ...this.#others]) session.destroy(reason);
    this.#others.clear();
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
        scope.signal.throwIfAborted();
        if (this.#sessions.size >= MAX_SESSIONS) await this.#room(scope.signal);
        else if (!(await raceAbort(this.#another(), scope.signal))) return undefined;
      }
    } finally {
      this.#placing -= 1;
      this.#wakeNext();
      this.#closeIfDrained();
    }
  }

  /** Waits for a connection that is being made. Makes one when none is, or none but one that takes so long that it may never stand. */
  async #another(): Promise<H2Session | undefined> {
    const now = this.#clock.monotonic();
    const slow = [...this.#openings].every(({ since }) => now - since >= SLOW_MS);
    if (slow && this.#openings.size < MAX_OPENINGS && this.#openings.size + this.#sessions.size < MAX_SESSIONS) {
      const opening: Opening = {
        since: now,
        session: this.#openAnother().finally(() => {
          this.#openings.delete(opening);
          this.#closeIfDrained();
        }),
      };
      this.#openings.add(opening);
    }
    try {
      return await Promise.any(Array.from(this.#openings, ({ session }) => session));
    } catch (error) {
      throw (error as AggregateError).errors[0];
    }
  }

  async #openAnother(): Promise<H2Session | undefined> {
    const session = await this.#open((ended) => this.#forget(ended));
    if (!session) return undefined;
    session.onRoom(() => this.#wakeNext());
    const surplus = this.#placing === 0 && this.#pick() !== undefined;
    this.#sessions.add(session);
    // The other of two stood first, and nobody is left who needs this one.
    if (surplus) session.drain();
    // It takes their place. What is under way on them may still be answered; if not, a PING ends it.
    for (const old of this.#sessions) if (!old.trusted) old.drain();
    return session;
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
    for (const session of this.#sessions) if (session.usable && session.hasRoom && session.trusted) return session;
    return undefined;
  }

  #forget(session: H2Session): void {
    this.#sessions.delete(session);
    for (const old of this.#others) if (old.open === 0) this.#others.delete(old);
    if (session.open > 0) this.#others.add(session);
    this.#wakeNext();
  }
}
