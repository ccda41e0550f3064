/** What was found out, for people. */
import { oneLine } from '../explain/one-line.ts';
import { worst, type Check } from './check.ts';
import type { JudgedStep } from './judge-cluster.ts';

const WORDS = { ok: 'ok', missing: 'missing', unknown: 'unknown' } as const;

export function renderSteps(steps: readonly JudgedStep[]): string {
  const width = Math.max(...Object.values(WORDS).map((word) => word.length));
  const indent = ' '.repeat(width + 2);
  const line = (check: Check): string =>
    [
      `${WORDS[check.state].padEnd(width)}  ${oneLine(check.text)}\n`,
      (check.objects ?? []).map((object) => `${indent}  ${oneLine(object)}\n`).join(''),
      (check.count ?? 0) > (check.objects?.length ?? 0)
        ? `${indent}  and ${(check.count ?? 0) - (check.objects?.length ?? 0)} more\n`
        : '',
      check.todo === undefined ? '' : `${indent}→ ${oneLine(check.todo)}\n`,
    ].join('');
  const blocks = steps.map(({ checks, step, title }) => `${title} (${step})\n${checks.map(line).join('')}`);
  return `${blocks.join('\n')}\n${summary(steps)}\n`;
}

function summary(steps: readonly JudgedStep[]): string {
  const named = (state: JudgedStep['state']): string =>
    steps
      .filter((one) => one.state === state)
      .map(({ step }) => step)
      .join(', ');
  switch (worst(steps.map(({ state }) => state))) {
    case 'ok':
      return 'All is ok.';
    case 'missing':
      return `Missing: ${named('missing')}.${named('unknown') === '' ? '' : ` Unknown: ${named('unknown')}.`}`;
    default:
      return `Nothing is known to be missing. Unknown: ${named('unknown')}.`;
  }
}
