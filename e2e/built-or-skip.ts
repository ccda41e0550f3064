/** Programs in Go, which tests run beside the program. */
import type { TestContext } from 'node:test';

/** The path that `build` gives. Where there is no Go the test is skipped and this is `undefined`; with `CI=true` it rejects instead. `what`: as in "no Go to build … with". */
export async function builtOrSkip(
  t: Pick<TestContext, 'skip'>,
  what: string,
  build: () => string | Promise<string>,
): Promise<string | undefined> {
  try {
    return await build();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT' || process.env['CI'] === 'true') throw error;
    t.skip(`there is no Go to build ${what} with`);
    return undefined;
  }
}
