/** `--feature-gates`: features that can be turned on or off by name, as component-base's feature gates. */
import { closestName } from './closest-name.ts';
import { FlagError } from './flag-error.ts';

/** One gate that a program knows. */
export interface FeatureGate {
  readonly stage: 'alpha' | 'beta';
  readonly default: boolean;
  /** Whether anything here depends on it. `false`: known because upstream's program has it. Default: true. */
  readonly hasEffect?: boolean;
}

/** The gates as a command line left them. */
export interface FeatureGates {
  /** Throws a `TypeError` for a gate that the program does not have. */
  enabled(name: string): boolean;
  /** For the log: one line that names the gates which were set and change nothing; empty without any. */
  readonly warnings: readonly string[];
}

/** Set all gates of a stage that are not set by name. */
const STAGES: Readonly<Record<string, FeatureGate['stage']>> = { AllAlpha: 'alpha', AllBeta: 'beta' };

/** Reads what `--feature-gates` said. Throws a `FlagError` for a gate that is not known. */
export function readFeatureGates(
  known: Readonly<Record<string, FeatureGate>>,
  set: Readonly<Record<string, boolean>>,
): FeatureGates {
  for (const name of Object.keys(set)) {
    if (Object.hasOwn(STAGES, name) || Object.hasOwn(known, name)) continue;
    const near = closestName(name, [...Object.keys(known), ...Object.keys(STAGES)]);
    const hint = near === undefined ? 'see docs/reference/flags.md' : `did you mean ${near}?`;
    throw new FlagError('invalid-flag', `--feature-gates: unknown feature gate ${JSON.stringify(name)}; ${hint}`);
  }
  const idle = Object.keys(set).filter((name) => known[name]?.hasEffect === false);
  return {
    warnings: idle.length === 0 ? [] : [`feature gates without a meaning here, accepted: ${idle.join(', ')}`],
    enabled: (name) => {
      const gate = Object.hasOwn(known, name) ? known[name] : undefined;
      if (gate === undefined) throw new TypeError(`feature gate ${name} is not known`);
      const ofStage = Object.keys(STAGES).find((all) => STAGES[all] === gate.stage);
      return set[name] ?? set[ofStage ?? ''] ?? gate.default;
    },
  };
}
