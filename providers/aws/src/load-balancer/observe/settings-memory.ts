/**
 * Attributes of load balancers and target groups, as a hash of them that a tag carries: reading them costs a request each, and they hardly ever change
 * but through this program. Once an hour they are read all the same.
 */
import { isCloudError, type CallContext, type Clock } from '@outrigger/cloud-provider';
import { hashOf } from '../names.ts';
import type { Tags } from '../ownership.ts';
import { isDueAgain } from './due-again.ts';
import type { Tagging } from './tagging.ts';

/** On what it is of. */
export const SETTINGS_TAG = 'outrigger.dev/attributes';

const TRUSTED_MS = 3_600_000;

export type Settings = Readonly<Record<string, string>>;

export function settingsHash(settings: Settings): string {
  const sorted = Object.entries(settings).toSorted(([a], [b]) => (a < b ? -1 : 1));
  return hashOf(JSON.stringify(sorted)).slice(0, 16);
}

/** Takes AWS' own words of a thing: the names of those that a Service can set, in its answer. */
export type ReadSettings = (call: CallContext) => Promise<Settings>;

export class SettingsMemory {
  readonly #clock: Clock;
  readonly #startedAt: number;
  readonly #readAt = new Map<string, number>();

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#startedAt = clock.monotonic();
  }

  /** The hash of its attributes; `undefined`: the tag does not say, and they are to be written. */
  async of(
    arn: string,
    { [SETTINGS_TAG]: hash }: Tags,
    read: ReadSettings,
    call: CallContext,
  ): Promise<string | undefined> {
    if (hash === undefined) return undefined;
    const now = this.#clock.monotonic();
    if (!isDueAgain(arn, this.#readAt.get(arn) ?? this.#startedAt, now, TRUSTED_MS)) return hash;
    const found = await settingsOf(read, call);
    // What AWS does not know was made a moment ago, or has just gone.
    if (!found) return hash;
    this.#readAt.set(arn, now);
    return settingsHash(found);
  }

  /** Attributes that were just written: a hash that stands there says that they are so. */
  async written(arn: string, settings: Settings, tagging: Pick<Tagging, 'set'>, call: CallContext): Promise<void> {
    await tagging.set(arn, { [SETTINGS_TAG]: settingsHash(settings) }, call);
    this.#readAt.set(arn, this.#clock.monotonic());
  }

  forget(arn: string): void {
    this.#readAt.delete(arn);
  }
}

async function settingsOf(read: ReadSettings, call: CallContext): Promise<Settings | undefined> {
  try {
    return await read(call);
  } catch (error) {
    if (isCloudError(error, 'not-found')) return undefined;
    throw error;
  }
}
