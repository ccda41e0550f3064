/**
 * How many handshakes a listener begins a second. A handshake costs 0.7 ms of the event loop, which does all else too, and who asks
 * for one pays next to nothing. Those over it wait, as connections that count; addresses of which the fewest wait go first.
 */
import type { Socket } from 'node:net';
import { tokenBucket, type Clock, type RateLimiter, type Timer } from '@outrigger/kube';

export interface HandshakePaceOptions {
  readonly clock: Clock;
  readonly perSecond: number;
  /** At once, after a pause. */
  readonly burst: number;
  readonly begin: (socket: Socket) => void;
}

export class HandshakePace {
  readonly #options: HandshakePaceOptions;
  /** By address, each with the oldest first. */
  readonly #waiting = new Map<string, Set<Socket>>();
  readonly #bucket: RateLimiter<string>;
  #timer: Timer | undefined;

  constructor(options: HandshakePaceOptions) {
    const { burst, clock, perSecond } = options;
    this.#options = options;
    this.#bucket = tokenBucket({ qps: perSecond, burst, clock, queueing: false });
  }

  /** Begins now, or when it is its turn; not at all once it is closed. */
  enter(socket: Socket): void {
    const peer = socket.remoteAddress ?? '';
    const ofPeer = this.#waiting.get(peer) ?? new Set();
    this.#waiting.set(peer, ofPeer.add(socket));
    socket.once('close', () => this.#leave(peer, socket));
    // Whoever waits may break; the handshake has listeners of its own.
    socket.on('error', ignore);
    this.#pump();
  }

  #leave(peer: string, socket: Socket): void {
    const ofPeer = this.#waiting.get(peer);
    if (ofPeer?.delete(socket) && ofPeer.size === 0) this.#waiting.delete(peer);
  }

  #pump(): void {
    const { begin, clock } = this.#options;
    this.#timer?.cancel();
    this.#timer = undefined;
    while (this.#waiting.size > 0) {
      const [peer, socket] = this.#next();
      const inMs = socket.destroyed ? 0 : this.#bucket.delayMs(peer);
      if (inMs > 0) {
        this.#timer = clock.setTimer(Math.max(1, inMs), () => this.#pump(), { unref: true });
        return;
      }
      this.#leave(peer, socket);
      socket.off('error', ignore);
      if (!socket.destroyed) begin(socket);
    }
  }

  /** Of one address the newest: it is the oldest that is ended where there are too many. */
  #next(): readonly [peer: string, socket: Socket] {
    const [first, ...others] = this.#waiting;
    if (!first) throw new Error('nobody waits');
    const [peer, ofPeer] = others.reduce((least, one) => (one[1].size < least[1].size ? one : least), first);
    const newest = [...ofPeer].at(-1);
    if (!newest) throw new Error(`no connection of ${peer} waits`);
    return [peer, newest];
  }
}

const ignore = (): void => {};
