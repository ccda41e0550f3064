/** The suite as tests of `node:test`, in a file of the author's own. */
import { test } from 'node:test';
import { whyLeftOut, type ConformanceTest } from './conformance-test.ts';
import type { ProviderFixture } from './provider-fixture.ts';
import { ProviderRig, type ProviderSubject } from './provider-rig.ts';
import { providerTests } from './provider-tests.ts';
import { runProviderTest } from './run-provider-tests.ts';

export interface ProviderConformanceOptions<F extends ProviderFixture> extends ProviderSubject<F> {
  /** Before the name of each test. */
  readonly name: string;
  /** Default: all. */
  readonly tests?: readonly ConformanceTest[];
  /** Tests that cannot tell anything of this subject, by name, and why. Default: none. */
  readonly without?: Readonly<Record<string, string>>;
}

/** A test that is not registered, and why. */
export interface LeftOut {
  readonly name: string;
  readonly outcome: 'skipped' | 'unverifiable';
  readonly reason: string;
}

/**
 * Registers a test for each promise that concerns this provider, by what it declares and what the fixture offers; gives back those that
 * were left out. One that turns out to be not verifiable while it runs is skipped; one that leaves something behind fails, and says what.
 * A test that the runner ends, by its own timeout for instance, takes away what it made all the same.
 */
export async function providerConformance<F extends ProviderFixture>(
  options: ProviderConformanceOptions<F>,
): Promise<readonly LeftOut[]> {
  const { name: subject, tests = providerTests, without = {} } = options;
  const left: LeftOut[] = [];
  const concerned: ConformanceTest[] = [];
  {
    await using rig = await ProviderRig.open(options as unknown as ProviderSubject);
    for (const one of tests) {
      const said = without[one.name];
      const why =
        said === undefined
          ? whyLeftOut(one, rig.capabilities, rig.fixture)
          : ({ outcome: 'unverifiable', reason: said } as const);
      if (why) left.push({ name: one.name, ...why });
      else concerned.push(one);
    }
  }
  for (const one of concerned) {
    test(`${subject}: ${one.name}`, async (t) => {
      const left: string[] = [];
      const { details, outcome, reason } = await runProviderTest(options, one, {
        signal: t.signal,
        onLeft: (line) => {
          left.push(line);
          // What the runner has given up on, it hears no more of.
          if (t.signal.aborted) process.stderr.write(`left behind: ${line}\n`);
          else t.diagnostic(`left behind: ${line}`);
        },
      });
      if (left.length > 0 && outcome !== 'failed') throw new Error(`left behind: ${left.join('; ')}`);
      if (outcome === 'failed') throw new Error(`${reason}\n${details ?? ''}\nThe promise: ${one.source}`);
      if (outcome !== 'passed') t.skip(`${outcome}: ${reason}`);
    });
  }
  return left;
}
