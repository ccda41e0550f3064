/** One bad item fails a whole request: the others are found by halving. */
import { asError, isCloudError } from '@outrigger/cloud-provider';

/**
 * Applies all at once and, where the cloud refuses that as `invalid` or `quota`, each half by itself, from left to right: so many
 * fit as there is room for. What fails by anything else, and what no room is left for, is not tried again for the others. The
 * outcomes are in the order of `items`; `undefined`: done. Never throws.
 */
export async function inHalves<T>(
  items: readonly T[],
  apply: (some: readonly T[]) => Promise<void>,
): Promise<readonly (Error | undefined)[]> {
  const outcomes: (Error | undefined)[] = [];
  let last: Error | undefined;
  const run = async (some: readonly T[]): Promise<void> => {
    if (some.length === 0) return;
    if (last) {
      outcomes.push(...some.map(() => last));
      return;
    }
    try {
      await apply(some);
      outcomes.push(...some.map(() => undefined));
    } catch (thrown) {
      const error = asError(thrown);
      const isInvalid = isCloudError(error, 'invalid');
      if (some.length > 1 && (isInvalid || isCloudError(error, 'quota'))) {
        const middle = Math.ceil(some.length / 2);
        await run(some.slice(0, middle));
        await run(some.slice(middle));
        return;
      }
      if (!isInvalid) last = error;
      outcomes.push(...some.map(() => error));
    }
  };
  await run(items);
  return outcomes;
}
