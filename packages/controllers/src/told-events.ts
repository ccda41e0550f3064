/** What people have been told about each object, so that the same is not told with each pass. */
import type { Clock, EventNote, EventRecorder, KubeObject } from '@outrigger/kube';

/** Events are kept for an hour by default: what still holds is told again before the last one is gone. */
const TELL_AGAIN_MS = 1_800_000;

interface Told {
  readonly message: string;
  readonly at: number;
}

export class ToldEvents {
  readonly #events: EventRecorder;
  readonly #clock: Clock;
  readonly #told = new Map<string, Map<string, Told>>();

  constructor(events: EventRecorder, clock: Clock) {
    this.#events = events;
    this.#clock = clock;
  }

  /** Whether anything of this reason was told about the object not long ago: what costs a read to say need not be read again. */
  wasTold(about: KubeObject, reason: string): boolean {
    const before = this.#told.get(about.metadata?.uid ?? '')?.get(reason);
    return before !== undefined && this.#clock.monotonic() - before.at < TELL_AGAIN_MS;
  }

  /** Records the note, unless this was told about the object already and not long ago. Returns whether it was recorded. */
  tell(about: KubeObject, note: EventNote): boolean {
    const uid = about.metadata?.uid ?? '';
    const now = this.#clock.monotonic();
    const before = this.#told.get(uid)?.get(note.reason);
    if (before?.message === note.message && now - before.at < TELL_AGAIN_MS) return false;
    const told = this.#told.get(uid) ?? new Map<string, Told>();
    this.#told.set(uid, told.set(note.reason, { message: note.message, at: now }));
    this.#events.record(about, note);
    return true;
  }

  forget(uid: string): void {
    this.#told.delete(uid);
  }
}
