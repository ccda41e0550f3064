/** moto for the tests of a file. */
import { after, type TestContext } from 'node:test';
import { Moto, whyNoMoto } from './moto.ts';

/**
 * One for all tests of a file: each begins with an empty account. Where there is none, the test is skipped and this is `undefined`; with
 * `CI=true` it fails instead.
 */
export async function motoOrSkip(t: Pick<TestContext, 'skip'>): Promise<Moto | undefined> {
  const why = await whyNoMoto();
  if (why !== undefined) {
    if (process.env['CI'] === 'true') throw new Error(why);
    t.skip(why);
    return undefined;
  }
  started ??= Moto.start();
  return started;
}

let started: Promise<Moto> | undefined;
after(async () => (await started)?.[Symbol.asyncDispose]());
