/** Hints of several sources, such as regions or accounts, as one stream. */
import { asError, type CallContext, type Clock, type InstanceHint } from '@outrigger/cloud-provider';

const FIRST_PAUSE_MS = 5_000;
const LONGEST_PAUSE_MS = 300_000;
const MOST_WAITING = 10_000;

export interface HintSource {
  /** For the log. */
  readonly name: string;
  /** What it tells, as it comes; `undefined`: it tells something that is no hint. It ends or throws where it cannot be heard any more. */
  readonly hints: (call: CallContext) => AsyncIterable<InstanceHint | undefined>;
}

/**
 * Ends with `call.signal`. A source that fails is followed again after a pause, beside the others: 5 s, then ever longer up to 5 min, until it tells
 * something. More than 10,000 hints that nobody took become one about everything.
 */
export async function* hintsOfAll(
  sources: readonly HintSource[],
  clock: Clock,
  call: CallContext,
): AsyncGenerator<InstanceHint, void> {
  const waiting: InstanceHint[] = [];
  let wake = Promise.withResolvers<void>();
  const follow = async ({ hints, name }: HintSource): Promise<void> => {
    for (let pauseMs = FIRST_PAUSE_MS; !call.signal.aborted; pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS)) {
      try {
        for await (const hint of hints(call)) {
          pauseMs = FIRST_PAUSE_MS;
          if (!hint) continue;
          // Whoever is so far behind may as well ask about all.
          if (waiting.length >= MOST_WAITING) waiting.splice(0, Infinity, {});
          else waiting.push(hint);
          wake.resolve();
        }
      } catch (error) {
        if (call.signal.aborted) return;
        call.logger.verbose(2, 'Changes of machines are not followed for now', { source: name, error: asError(error) });
      }
      await clock.sleep(pauseMs, call.signal).catch(() => undefined);
    }
  };
  const following = Promise.all(sources.map(follow)).finally(() => wake.resolve());
  while (!call.signal.aborted) {
    await wake.promise;
    wake = Promise.withResolvers();
    yield* waiting.splice(0);
  }
  await following;
}
