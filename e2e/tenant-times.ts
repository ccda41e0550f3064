/** How long honest objects take beside a hostile tenant, and how much longer than alone. Pure. */
import { quantile } from '../bench/node-observer.ts';
import { noTimes, type Step, type Times } from './honest-cluster.ts';

export interface TimesOfPhases {
  readonly alone: Times;
  /** Beside neutral writes. */
  readonly neutral: Times;
  readonly attacked: Times;
}

/** Honest objects take so many times as long as alone at most: in the middle, and of twenty all but one. */
const SLOWER = 1.5;
const PARTS = [0.5, 0.95] as const;

const stepsOf = (times: Times): readonly Step[] => Object.keys(times).filter((step): step is Step => step !== 'bare');

const toldOf = (times: readonly number[]): string =>
  [0.5, 0.95, 1].map((part) => (quantile(times, part) / 1_000).toFixed(2)).join('/');

const ratiosOf = (times: readonly number[], usual: readonly number[]): string =>
  PARTS.map((part) => (quantile(times, part) / quantile(usual, part)).toFixed(2)).join('/');

/**
 * What took too long. Of several rounds all objects together: those of one turn are made at once and share what delays it, so what 95 % take
 * is in one round what the third slowest of some forty turns took, and chance has much to say in it.
 */
export function slowerSteps(rounds: readonly TimesOfPhases[]): readonly string[] {
  const { alone, attacked } = together(rounds);
  return stepsOf(alone).flatMap((step) =>
    PARTS.flatMap((part) => {
      const [usual, now] = [quantile(alone[step], part), quantile(attacked[step], part)];
      return now <= SLOWER * usual
        ? []
        : [`${step}, ${100 * part} %: ${(now / usual).toFixed(2)} times as long, not ${SLOWER}`];
    }),
  );
}

/** A line each step, and one of the bare client, of all rounds together. */
export function timesText(rounds: readonly TimesOfPhases[]): string {
  const phases = together(rounds);
  return [...stepsOf(phases.attacked).map((step) => stepLine(phases, step)), bareLine(phases)]
    .map((line) => `\n  ${line}`)
    .join('');
}

/** Both ratios: to what it takes beside neutral writes, and to what it takes alone, which is what `SLOWER` bounds. */
function stepLine({ alone, attacked, neutral }: TimesOfPhases, step: Step): string {
  const now = `${step}: ${toldOf(attacked[step])} s attacked (${attacked[step].length})`;
  if (neutral[step].length === 0) return now;
  const beside = ({ [step]: times }: Times): string => `(${times.length}; × ${ratiosOf(attacked[step], times)})`;
  return (
    `${now}, ${toldOf(neutral[step])} s beside neutral writes ${beside(neutral)}, ` +
    `${toldOf(alone[step])} s alone ${beside(alone)}`
  );
}

/**
 * What a client that does nothing but make a node and patch it once finds in the same minutes: how much longer a join takes is the program
 * and the cloud. Told, and no excuse.
 */
function bareLine({ alone, attacked, neutral }: TimesOfPhases): string {
  const phases = { attacked, 'beside neutral writes': neutral, alone };
  const told = Object.entries(phases).flatMap(([phase, { bare, 'node joins': joins }]) =>
    bare.length === 0 ? [] : [`${toldOf(bare)} s ${phase} (${bare.length}; a join takes × ${ratiosOf(joins, bare)})`],
  );
  return `bare client's node: ${told.join(', ')}`;
}

function together(rounds: readonly TimesOfPhases[]): TimesOfPhases {
  const all: TimesOfPhases = { alone: noTimes(), neutral: noTimes(), attacked: noTimes() };
  for (const round of rounds)
    for (const phase of ['alone', 'neutral', 'attacked'] as const)
      for (const step of [...stepsOf(all[phase]), 'bare'] as const) all[phase][step].push(...round[phase][step]);
  return all;
}
