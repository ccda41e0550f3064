import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ConformanceReport } from '../conformance-report.ts';
import { renderComparison } from './comparison.ts';
import { SAMPLE_REPORT, STOPPED_REPORT } from './sample-report.suite.ts';

const OTHER: ConformanceReport = {
  ...SAMPLE_REPORT,
  subject: { name: 'pipe|cloud' },
  finished: '2026-12-01T00:00:00Z',
  results: [
    ...SAMPLE_REPORT.results.slice(0, 2).map((result) => ({ ...result, outcome: 'passed' as const })),
    { ...SAMPLE_REPORT.results[0]!, name: 'routes / one', feature: 'routes' },
  ],
};

test('providers are compared feature by feature, then test by test', () => {
  assert.equal(
    renderComparison([SAMPLE_REPORT, OTHER]).markdown,
    String.raw`# Providers compared

| Feature | acme 1.2.0 | pipe\|cloud |
| --- | --- | --- |
| instances | 1 of 2, 1 failed | 2 of 2 |
| load-balancers | 0 of 1, 1 not known | not declared |
| routes | not declared | 1 of 1 |
| Judged on | 2026-11-22 | 2026-12-01 |

## instances

| Test | acme 1.2.0 | pipe\|cloud |
| --- | --- | --- |
| instances / a stopped machine is there | yes | yes |
| instances / a machine that is gone is proved absent | **no** | yes |

## load-balancers

| Test | acme 1.2.0 | pipe\|cloud |
| --- | --- | --- |
| load-balancers / two families | not declared | — |
| load-balancers / an answer that is lost | not known | — |

## routes

| Test | acme 1.2.0 | pipe\|cloud |
| --- | --- | --- |
| routes / one | — | yes |
`,
  );
});

test('the Markdown has no HTML of a report, in headings neither', () => {
  const [first] = OTHER.results;
  assert.ok(first);
  const feature = '<img src=x onerror=alert(1)>';
  const { markdown } = renderComparison([{ ...OTHER, results: [{ ...first, feature }] }]);
  assert.doesNotMatch(markdown, /(?<!\\)</u);
});

test('the page says the same, escaped', () => {
  const page = renderComparison([{ ...SAMPLE_REPORT, subject: { name: '<i>' } }, OTHER]).html;
  assert.match(page, /<h1>Providers compared<\/h1>/u);
  assert.match(page, /<th>&lt;i&gt;<\/th><?/u);
  assert.match(page, /<td class="failed">1 of 2, 1 failed<\/td>\n?<td class="passed">2 of 2<\/td>/u);
  assert.match(page, /title="the answer was &lt;missing&gt; &amp; not &quot;absent&quot;">\s*no\s*<\/td>/u);
});

test('reports of two suites are refused, and so is nothing', () => {
  assert.throws(() => renderComparison([SAMPLE_REPORT, { ...OTHER, suite: 'cluster' }]), {
    name: 'TypeError',
    message: /reports of provider and of cluster conformance cannot be compared: pipe\|cloud/u,
  });
  assert.throws(() => renderComparison([]), { name: 'TypeError', message: /no report to compare/u });
});

test('a report of a run that was stopped says so where it says when it was made', () => {
  const { html, markdown } = renderComparison([SAMPLE_REPORT, STOPPED_REPORT]);
  assert.match(markdown, /^\| Judged on \| 2026-11-22 \| 2026-11-22, stopped \|$/mu);
  assert.match(html, /<td>2026-11-22, stopped<\/td>/u);
});
