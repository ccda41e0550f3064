import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test, type TestContext } from 'node:test';
import { renderComparison } from './comparison.ts';
import { runComparison } from './compare-command.ts';
import { SAMPLE_REPORT } from './sample-report.suite.ts';

function directory(t: TestContext): string {
  const cwd = mkdtempSync(path.join(tmpdir(), 'conformance-compare-'));
  t.after(() => rmSync(cwd, { recursive: true, force: true }));
  writeFileSync(path.join(cwd, 'acme.json'), JSON.stringify(SAMPLE_REPORT));
  writeFileSync(path.join(cwd, 'other.json'), '{"results": 1}');
  const results = [{ name: 'one', feature: 'routes', outcome: 'quarantined' }];
  writeFileSync(path.join(cwd, 'later.json'), JSON.stringify({ ...SAMPLE_REPORT, results }));
  return cwd;
}

async function compare(
  cwd: string,
  ...args: readonly string[]
): Promise<{ readonly code: number; readonly stdout: string; readonly stderr: string }> {
  const out: string[] = [];
  const err: string[] = [];
  const code = await runComparison(args, {
    stdout: { write: (text) => out.push(text) },
    stderr: { write: (text) => err.push(text) },
    env: {},
    cwd,
  });
  return { code, stdout: out.join(''), stderr: err.join('') };
}

test('reports become one page, on stdout or as files', async (t) => {
  const cwd = directory(t);
  const comparison = renderComparison([SAMPLE_REPORT, SAMPLE_REPORT]);
  assert.deepEqual(await compare(cwd, 'acme.json', 'acme.json'), { code: 0, stdout: comparison.markdown, stderr: '' });
  const { code } = await compare(cwd, 'acme.json', 'acme.json', '--output-dir=page');
  assert.equal(code, 0);
  assert.equal(readFileSync(path.join(cwd, 'page/comparison.md'), 'utf8'), comparison.markdown);
  assert.equal(readFileSync(path.join(cwd, 'page/comparison.html'), 'utf8'), comparison.html);
});

test('what is no report is refused by its name', async (t) => {
  const cwd = directory(t);
  const rows: readonly (readonly [readonly string[], RegExp])[] = [
    [[], /name the reports to compare/u],
    [['absent.json'], /absent\.json cannot be read: /u],
    [['other.json'], /other\.json is no conformance report/u],
    [['later.json'], /later\.json is no conformance report/u],
    [['acme.json', '--output=x'], /unknown flag --output/u],
  ];
  for (const [args, message] of rows) {
    const { code, stderr } = await compare(cwd, ...args);
    assert.equal(code, 1);
    assert.match(stderr, message);
  }
});

test('--help says what it takes', async (t) => {
  const { code, stdout } = await compare(directory(t), '--help');
  assert.equal(code, 0);
  assert.match(stdout, /--output-dir/);
});
