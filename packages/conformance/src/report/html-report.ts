/** A report as one HTML page: what failed first, then everything by feature. */
import type { ConformanceReport, TestResult } from '../conformance-report.ts';
import { html, page, sourceLink, type Html } from './html.ts';
import { byFeature, durationSeconds, OUTCOMES, subjectText, tallyOf, tallyText } from './tally.ts';

/** The whole document. */
export function renderHtml(report: ConformanceReport): string {
  const subject = subjectText(report);
  const features = [...byFeature(report.results)];
  return page(
    `${subject}: ${report.suite} conformance`,
    html`<h1>${subject}: ${report.suite} conformance</h1>
      <p class="about">
        ${tallyText(tallyOf(report.results))} in ${durationSeconds(report).toFixed(1)} s · ${report.started} to
        ${report.finished}
      </p>
      ${report.stopped === undefined ? [] : [html`<p class="outcome failed">Stopped: ${report.stopped}</p>`]}
      ${failures(report.results)}
      <h2>Features</h2>
      <div class="wide">
        <table>
          <thead>
            <tr>
              <th>Feature</th>
              ${OUTCOMES.map((outcome) => html`<th class="number">${outcome}</th>`)}
            </tr>
          </thead>
          <tbody>
            ${features.map(([feature, results]) => featureRow(feature, results))}
          </tbody>
        </table>
      </div>
      ${features.map(([feature, results]) => featureSection(feature, results))}`,
  );
}

function failures(results: readonly TestResult[]): readonly Html[] {
  const failed = results.filter(({ outcome }) => outcome === 'failed');
  return failed.length === 0 ? [] : [featureSection('Failures', failed)];
}

function featureRow(feature: string, results: readonly TestResult[]): Html {
  const tally = tallyOf(results);
  return html`<tr>
    <td>${feature}</td>
    ${OUTCOMES.map((outcome) =>
      tally[outcome] === 0
        ? html`<td class="number"></td>`
        : html`<td class="number ${outcome}">${tally[outcome]}</td>`,
    )}
  </tr>`;
}

function featureSection(title: string, results: readonly TestResult[]): Html {
  return html`<h2>${title}</h2>
    <div class="wide">
      <table>
        <thead>
          <tr>
            <th>Outcome</th>
            <th>Test</th>
            <th class="number">Seconds</th>
          </tr>
        </thead>
        <tbody>
          ${results.map(resultRow)}
        </tbody>
      </table>
    </div>`;
}

function resultRow({ name, outcome, reason, details, source, durationSeconds }: TestResult): Html {
  const told = outcome === 'passed' || reason === undefined ? [] : [html`<div class="reason">${reason}</div>`];
  const seen = outcome === 'failed' && details ? [html`<pre>${details}</pre>`] : [];
  return html`<tr>
    <td class="outcome ${outcome}">${outcome}</td>
    <td>
      ${name}${told}${seen}
      <div class="source">${sourceLink(source)}</div>
    </td>
    <td class="number">${durationSeconds.toFixed(1)}</td>
  </tr>`;
}
