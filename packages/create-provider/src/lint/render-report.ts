/** What `outrigger lint-repo` prints. Pure. */
import type { Finding, RepositoryReport } from './lint-repository.ts';

const MARKS: Readonly<Record<Finding['outcome'], string>> = {
  met: 'ok',
  elsewhere: 'ok, elsewhere',
  missed: 'MISSED',
  'not-applicable': '-',
};

export function renderReport({ directory, findings, name, passed }: RepositoryReport): string {
  const width = Math.max(...findings.map(({ id }) => id.length));
  const lines = findings.flatMap(({ found, id, level, outcome, quote, source, todo }) => [
    `${level.padEnd(6)}  ${id.padEnd(width)}  ${MARKS[outcome].padEnd(13)}  ${found}`,
    ...(outcome === 'missed' ? [`        asked for: ${quote}`, `        by: ${source}`, `        to do: ${todo}`] : []),
  ]);
  const missed = (level: Finding['level']): number =>
    findings.filter((one) => one.level === level && one.outcome === 'missed').length;
  const verdict = passed ? 'passed' : 'FAILED';
  const sum = `${name ?? directory}: ${verdict}; of what a repository must have ${missed('must')} missed, of what it should have ${missed('should')}`;
  return `${lines.join('\n')}\n\n${sum}\n`;
}
