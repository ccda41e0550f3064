/**
 * Look-ups of volumes as group commit: what is asked while one call is in flight travels in the next, up to the provider's
 * batch size. No timer and no cache: a volume is asked about once or twice in its life.
 */
import {
  asError,
  CloudError,
  refuseLonger,
  type CallPriority,
  type VolumeRef,
  type VolumeResult,
  type VolumeTopology,
} from '@outrigger/cloud-provider';
import { raceAbort, type Clock } from '@outrigger/kube';
import { batchSizeOf } from './answer-defaults.ts';
import type { MakeCallContext } from './make-call-context.ts';
import { callInTime } from './call-in-time.ts';
import { isTextByName } from './text-by-name.ts';

export interface VolumeLookUpsOptions {
  readonly volumes: VolumeTopology;
  readonly callContext: MakeCallContext;
  readonly clock: Clock;
  /** Of every call. */
  readonly priority: CallPriority;
  /** A call that takes longer is given up as `timeout`. Default: 60,000. */
  readonly callTimeoutMs?: number;
  /** Ends the calls; those who wait are told `failed`. */
  readonly signal: AbortSignal;
}

export interface VolumeLookUps {
  /** Never rejects: what went wrong is in the answer (`failed`). `signal`: of who asks, and waits no longer when it aborts. */
  lookUp(volume: VolumeRef, signal?: AbortSignal): Promise<VolumeResult>;
}

const DEFAULT_CALL_TIMEOUT_MS = 60_000;
/** What waits for a call. Of a cloud that answers, a few batches; of one that does not, no more than this is kept. */
const MOST_WAITING = 10_000;
/** Of each text of a volume. Its name in the cloud may be the path of a resource, as a provider ID may. */
const TEXT_LENGTH = 1_024;

interface Question {
  readonly volume: VolumeRef;
  readonly resolve: (result: VolumeResult) => void;
}

export function createVolumeLookUps(options: VolumeLookUpsOptions): VolumeLookUps {
  return new BatchedVolumeLookUps(options);
}

class BatchedVolumeLookUps implements VolumeLookUps {
  readonly #options: VolumeLookUpsOptions;
  readonly #gathered = new Set<Question>();
  #busy = false;

  constructor(options: VolumeLookUpsOptions) {
    this.#options = options;
  }

  async lookUp(volume: VolumeRef, signal?: AbortSignal): Promise<VolumeResult> {
    const { promise, resolve } = Promise.withResolvers<VolumeResult>();
    const question = { volume, resolve };
    try {
      signal?.throwIfAborted();
      refuseLongTexts(volume);
      if (this.#gathered.size >= MOST_WAITING) {
        throw new CloudError('throttled', `${MOST_WAITING} volumes wait for the cloud already`);
      }
      this.#gathered.add(question);
      this.#begin();
      return await raceAbort(promise, signal);
    } catch (error) {
      return { kind: 'failed', error: asError(error) };
    } finally {
      this.#gathered.delete(question);
    }
  }

  #begin(): void {
    if (this.#busy) return;
    this.#busy = true;
    // All that is asked in this turn goes along.
    queueMicrotask(() => void this.#drain());
  }

  async #drain(): Promise<void> {
    while (this.#gathered.size > 0) {
      const batch = [...this.#gathered.values().take(batchSizeOf(this.#options.volumes))];
      for (const question of batch) this.#gathered.delete(question);
      const results = await this.#ask(batch.map(({ volume }) => volume));
      for (const [index, { resolve }] of batch.entries()) resolve(results[index] as VolumeResult);
    }
    this.#busy = false;
  }

  async #ask(volumes: readonly VolumeRef[]): Promise<readonly VolumeResult[]> {
    const { callContext, callTimeoutMs = DEFAULT_CALL_TIMEOUT_MS, clock, priority, volumes: topology } = this.#options;
    const what = `look-up of ${volumes.length} volumes`;
    const late = `${what}: the provider did not answer within ${callTimeoutMs} ms`;
    try {
      const results = await callInTime(
        // All of it: the API server waits for a webhook.
        { clock, timeoutMs: callTimeoutMs, mostMs: callTimeoutMs, what, signal: this.#options.signal, late },
        (signal) => callContext({ signal, priority, reads: true, about: volumes.map(({ uid }) => uid) }),
        (call) => topology.lookUp(volumes, call),
      );
      return checked(results, volumes);
    } catch (thrown) {
      const error = asError(thrown);
      return volumes.map(() => ({ kind: 'failed', error }));
    }
  }
}

/** Whoever reaches the webhook's port may write a megabyte into each. */
function refuseLongTexts(volume: VolumeRef): void {
  for (const [field, text] of Object.entries(volume)) {
    refuseLonger(`the volume's ${field}`, String(text), TEXT_LENGTH);
  }
}

/** A provider may be written in JavaScript. What breaks the contract is no answer; each volume is judged for itself. */
function checked(results: unknown, volumes: readonly VolumeRef[]): readonly VolumeResult[] {
  const given = Array.isArray(results) ? results.length : undefined;
  if (given !== volumes.length) {
    const text = `volumes.lookUp gave ${given ?? 'no list of'} answers for ${volumes.length} volumes`;
    throw new CloudError('invalid', text);
  }
  return (results as readonly unknown[]).map((result, index) => {
    if (isResult(result)) return result;
    const text = `volumes.lookUp returned an answer for volume ${volumes[index]?.name ?? ''} that breaks the contract`;
    return { kind: 'failed', error: new CloudError('invalid', text) };
  });
}

function isResult(result: unknown): result is VolumeResult {
  const { kind, labels, error } = (result ?? {}) as { kind?: unknown; labels?: unknown; error?: unknown };
  if (kind === 'found') return isTextByName(labels);
  return kind === 'unknown' || (kind === 'failed' && error instanceof Error);
}
