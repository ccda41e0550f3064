import assert from 'node:assert/strict';
import { test } from 'node:test';
import { renderHtml } from './html-report.ts';
import { SAMPLE_REPORT, STOPPED_REPORT } from './sample-report.suite.ts';

test('the page is whole by itself: no script, nothing that is fetched', () => {
  const page = renderHtml(SAMPLE_REPORT);
  assert.match(page, /^<!doctype html>\s*<html lang="en">/u);
  assert.match(page, /<\/html>\s*$/u);
  assert.doesNotMatch(page, /<script|<link|<img|@import|\bsrc=/u);
});

test('what a subject wrote is escaped', () => {
  const page = renderHtml({ ...SAMPLE_REPORT, subject: { name: '<b>"acme"</b>' } });
  assert.match(page, /<title>&lt;b&gt;&quot;acme&quot;&lt;\/b&gt;: provider conformance<\/title>/u);
  assert.match(page, /&lt;script&gt;alert\(1\)&lt;\/script&gt;/u);
  assert.match(page, /the answer was &lt;missing&gt; &amp; not &quot;absent&quot;/u);
});

test('a source that is no address over https is no link', () => {
  const [result] = SAMPLE_REPORT.results;
  const page = renderHtml({ ...SAMPLE_REPORT, results: [{ ...result!, source: 'javascript:alert(1)' }] });
  assert.doesNotMatch(page, /<a /u);
  assert.match(page, /<code>javascript:alert\(1\)<\/code>/u);
});

test('failures stand before the features, each with what was seen', () => {
  const page = renderHtml(SAMPLE_REPORT);
  assert.ok(page.indexOf('<h2>Failures</h2>') < page.indexOf('<h2>Features</h2>'));
  assert.match(page, /<pre>asked: acme:\/\/1\nanswered: /u);
  assert.doesNotMatch(renderHtml({ ...SAMPLE_REPORT, results: [] }), /Failures/u);
});

test('a run that was stopped says so before anything else', () => {
  const page = renderHtml(STOPPED_REPORT);
  const mark = page.search(/<p class="outcome failed">\s*Stopped: 3 of 7 tests did not come to an end\s*<\/p>/u);
  assert.ok(mark > 0 && mark < page.indexOf('<h2>'));
  assert.doesNotMatch(renderHtml(SAMPLE_REPORT), /Stopped/u);
});
