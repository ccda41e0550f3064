/** Providers, or managers, side by side: feature by feature, and test by test. */
import type { ConformanceReport, Outcome, TestResult } from '../conformance-report.ts';
import { html, page, type Html } from './html.ts';
import { printableLine } from './printable-text.ts';
import { subjectText, tallyOf, type Tally } from './tally.ts';

export interface Comparison {
  readonly markdown: string;
  /** A whole document. */
  readonly html: string;
}

/** What stands for an outcome where there is little room. A test that a report lacks has none: it was made by another version of the suite. */
const SHORT: Readonly<Record<Outcome, string>> = {
  passed: 'yes',
  failed: '**no**',
  skipped: 'not declared',
  unverifiable: 'not known',
};

interface Row {
  readonly feature: string;
  readonly name: string;
  /** One for each report, in their order. */
  readonly results: readonly (TestResult | undefined)[];
}

/** Reports of one suite, in the order of the columns. Throws a `TypeError` when they are of several suites, or when there is none. */
export function renderComparison(reports: readonly ConformanceReport[]): Comparison {
  const [first] = reports;
  if (first === undefined) throw new TypeError('there is no report to compare: name at least one');
  const other = reports.find(({ suite }) => suite !== first.suite);
  if (other)
    throw new TypeError(
      `reports of ${first.suite} and of ${other.suite} conformance cannot be compared: ${subjectText(other)} was judged by other tests`,
    );
  const title = `${first.suite === 'provider' ? 'Providers' : 'Managers'} compared`;
  const rows = rowsOf(reports);
  return { markdown: asMarkdown(title, reports, rows), html: asHtml(title, reports, rows) };
}

function rowsOf(reports: readonly ConformanceReport[]): readonly Row[] {
  const byName = reports.map(({ results }) => new Map(results.map((result) => [result.name, result])));
  const known = new Map(reports.flatMap(({ results }) => results).map(({ name, feature }) => [name, feature]));
  return [...known].map(([name, feature]) => ({ name, feature, results: byName.map((results) => results.get(name)) }));
}

/** A feature in one cell: `12 of 12`, `not declared`, `9 of 12, 1 failed`. */
function featureCell(results: readonly (TestResult | undefined)[]): {
  readonly text: string;
  readonly outcome: Outcome;
} {
  const tally = tallyOf(results.filter((result) => result !== undefined));
  const judged = tally.passed + tally.failed + tally.unverifiable;
  if (judged === 0) return { text: SHORT.skipped, outcome: 'skipped' };
  const text = [`${tally.passed} of ${judged}`];
  if (tally.failed > 0) text.push(`${tally.failed} failed`);
  if (tally.unverifiable > 0) text.push(`${tally.unverifiable} not known`);
  return { text: text.join(', '), outcome: worst(tally) };
}

function worst(tally: Tally): Outcome {
  if (tally.failed > 0) return 'failed';
  return tally.unverifiable > 0 ? 'unverifiable' : 'passed';
}

function features(rows: readonly Row[]): readonly (readonly [string, readonly Row[]])[] {
  return [...Map.groupBy(rows, ({ feature }) => feature)];
}

function column(rows: readonly Row[], index: number): readonly (TestResult | undefined)[] {
  return rows.map(({ results }) => results[index]);
}

function asMarkdown(title: string, reports: readonly ConformanceReport[], rows: readonly Row[]): string {
  const subjects = reports.map(subjectText);
  const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;
  const head = (first: string): readonly string[] => [
    line([first, ...subjects.map(cellText)]),
    line(['---', ...subjects.map(() => '---')]),
  ];
  const lines = [`# ${title}`, '', ...head('Feature')];
  for (const [feature, own] of features(rows))
    lines.push(line([cellText(feature), ...reports.map((_, index) => featureCell(column(own, index)).text)]));
  lines.push(line(['Judged on', ...reports.map((report) => cellText(judgedOn(report)))]));
  for (const [feature, own] of features(rows)) {
    lines.push('', `## ${cellText(feature)}`, '', ...head('Test'));
    for (const { name, results } of own)
      lines.push(line([cellText(name), ...results.map((result) => (result ? SHORT[result.outcome] : '—'))]));
  }
  return `${lines.join('\n')}\n`;
}

/** A day; a stopped run says nothing of what it lacks. */
function judgedOn({ finished, stopped }: ConformanceReport): string {
  return `${finished.slice(0, 10)}${stopped === undefined ? '' : ', stopped'}`;
}

/** Text of a report, in a heading or a cell of a table of Markdown. */
function cellText(text: string): string {
  return printableLine(text).replaceAll(/[\\|<>`*_[\]&]/gu, String.raw`\$&`);
}

function asHtml(title: string, reports: readonly ConformanceReport[], rows: readonly Row[]): string {
  const subjects = reports.map((report) => html`<th>${subjectText(report)}</th>`);
  const table = (first: string, body: readonly Html[]): Html =>
    html`<div class="wide">
      <table>
        <thead>
          <tr>
            <th>${first}</th>
            ${subjects}
          </tr>
        </thead>
        <tbody>
          ${body}
        </tbody>
      </table>
    </div>`;
  const overview = features(rows).map(
    ([feature, own]) =>
      html`<tr>
        <td>${feature}</td>
        ${reports.map((_, index) => {
          const { text, outcome } = featureCell(column(own, index));
          return html`<td class="${outcome}">${text}</td>`;
        })}
      </tr>`,
  );
  const judged = html`<tr>
    <td>Judged on</td>
    ${reports.map((report) => html`<td>${judgedOn(report)}</td>`)}
  </tr>`;
  return page(
    title,
    html`<h1>${title}</h1>
      ${table('Feature', [...overview, judged])}
      ${features(rows).map(
        ([feature, own]) =>
          html`<h2>${feature}</h2>
            ${table('Test', own.map(testRow))}`,
      )}`,
  );
}

function testRow({ name, results }: Row): Html {
  return html`<tr>
    <td>${name}</td>
    ${results.map((result) =>
      result
        ? html`<td class="${result.outcome}" title="${result.outcome === 'passed' ? '' : (result.reason ?? '')}">
            ${SHORT[result.outcome].replaceAll('*', '')}
          </td>`
        : html`<td>—</td>`,
    )}
  </tr>`;
}
