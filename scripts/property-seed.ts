/**
 * Loaded before every test file. Property tests draw from one fixed seed, so that a commit passes or fails for what it
 * holds and not by luck. `make properties` draws anew (OUTRIGGER_PROPERTY_SEED=random), as often as one likes; what fails
 * there prints the seed and the path that repeat it.
 */
import { configureGlobal } from 'fast-check';

const FIXED_SEED = 20_260_101;

const wanted = process.env['OUTRIGGER_PROPERTY_SEED'] ?? String(FIXED_SEED);
if (wanted !== 'random') {
  const seed = Number(wanted);
  if (!Number.isInteger(seed)) {
    throw new Error(`OUTRIGGER_PROPERTY_SEED=${wanted} is neither a whole number nor "random"`);
  }
  configureGlobal({ seed });
}
