import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { acceptsUnknown, judgeAdvisories, readAcceptances, readAudit, toolsIn, type Advisory } from './judge-audit.ts';

/** Printed by npm 11, for a critical advisory of an indirect dependency and a moderate one of a direct one. */
const REPORT = readFileSync(new URL('npm-audit-report.json', import.meta.url), 'utf8');
const CRITICAL: Advisory = {
  id: 'GHSA-aaaa-bbbb-cccc',
  package: 'sonic-boom',
  severity: 'critical',
  title: 'It does what it should not',
  shipped: true,
};
/** In the report. */
const YAML = 'node_modules/yaml';

test('each advisory once, with the package that has it, and not those that only depend on it', () => {
  const answer = readAudit(REPORT, new Set([YAML]));
  assert.equal(answer.kind, 'known');
  assert.deepEqual(answer.kind === 'known' && answer.advisories, [
    CRITICAL,
    { id: 'GHSA-dddd-eeee-ffff', package: 'yaml', severity: 'moderate', title: 'It takes too long', shipped: false },
  ]);
});

test('a tool is what the lock file has for development alone, at each place where it is installed', () => {
  const lock = { packages: { '': {}, [YAML]: { dev: true }, b: { dev: false }, c: { devOptional: true } } };
  assert.deepEqual(toolsIn(JSON.stringify(lock)), new Set([YAML]));
  const shipped = (nodes: unknown): boolean | undefined => {
    const report = JSON.parse(REPORT) as { vulnerabilities: { yaml: { nodes: unknown } } };
    report.vulnerabilities.yaml.nodes = nodes;
    const answer = readAudit(JSON.stringify(report), new Set([YAML]));
    return answer.kind === 'known' ? answer.advisories[1]?.shipped : undefined;
  };
  assert.deepEqual([[YAML], [YAML, 'node_modules/a/node_modules/yaml'], [], undefined].map(shipped), [
    false,
    true,
    true,
    true,
  ]);
});

test('no vulnerabilities is known to be none', () => {
  assert.deepEqual(readAudit('{"auditReportVersion":2,"vulnerabilities":{}}', new Set()), {
    kind: 'known',
    advisories: [],
  });
});

test('whatever is no report is unknown, and never none', () => {
  const report = JSON.parse(REPORT) as { vulnerabilities: Record<string, unknown> };
  for (const text of [
    '',
    'npm error',
    'null',
    '[]',
    '{}',
    '{"auditReportVersion":3,"vulnerabilities":{}}',
    '{"message":"405 Method Not Allowed - POST https://registry.example/x","error":{}}',
    JSON.stringify({ ...report, vulnerabilities: { a: {} } }),
    JSON.stringify({ ...report, vulnerabilities: { a: { via: [{ title: 'no package' }] } } }),
  ]) {
    assert.equal(readAudit(text, new Set()).kind, 'unknown', text);
  }
  fc.assert(fc.property(fc.json(), (text) => readAudit(text, new Set()).kind === 'unknown'));
  // Cut off anywhere.
  fc.assert(
    fc.property(
      fc.nat(REPORT.trimEnd().length - 1),
      (end) => readAudit(REPORT.slice(0, end), new Set()).kind === 'unknown',
    ),
  );
});

test('an advisory is refused, unless it is accepted by name and the date has not passed', () => {
  const entry = { id: CRITICAL.id, reason: 'it is not reached from here', until: '2026-06-30' };
  const refused = (today: string): number => judgeAdvisories([CRITICAL], [entry], today).refused.length;
  assert.equal(judgeAdvisories([CRITICAL], [], '2026-06-30').refused.length, 1);
  assert.deepEqual([refused('2026-06-30'), refused('2026-07-01')], [0, 1]);
  const other = { ...entry, id: 'GHSA-0000-0000-0000' };
  const judged = judgeAdvisories([CRITICAL], [other], '2026-06-30');
  assert.deepEqual([judged.refused.length, judged.accepted.length, judged.idle], [1, 0, [other]]);
});

test('of what is shipped each one is refused, of tools those that are high, critical, or of a severity that nobody knows', () => {
  const severities = ['info', 'low', 'moderate', 'high', 'critical', 'apocalyptic'];
  const refused = (shipped: boolean): readonly string[] => {
    const advisories = severities.map((severity) => ({ ...CRITICAL, severity, shipped }));
    const judged = judgeAdvisories(advisories, [], '2026-06-30');
    assert.deepEqual(new Set([...judged.refused, ...judged.others]), new Set(advisories));
    return judged.refused.map(({ severity }) => severity);
  };
  assert.deepEqual(refused(true), severities);
  assert.deepEqual(refused(false), ['high', 'critical', 'apocalyptic']);
});

test('an entry without an identifier, a reason, a justification or a date is refused, and says which it is', () => {
  const good = {
    id: 'GHSA-aaaa-bbbb-cccc',
    reason: 'it is not reached from here',
    justification: 'vulnerable_code_not_in_execute_path',
    until: '2026-06-30',
  };
  assert.deepEqual(readAcceptances(JSON.stringify([good])), [good]);
  for (const [bad, key] of [
    [{ ...good, id: 'CVE-1' }, 'id'],
    [{ ...good, reason: ' ' }, 'reason'],
    [{ ...good, justification: 'no harm' }, 'justification'],
    [{ ...good, until: 'later' }, 'until'],
    [{ ...good, until: '2026-13-01' }, 'until'],
    [null, 'id'],
  ] as const) {
    assert.throws(() => readAcceptances(JSON.stringify([good, bad])), new RegExp(`entry 1.*"${key}"`, 'u'));
  }
  assert.throws(() => readAcceptances('{}'), /must be an array/u);
});

test('that nothing is known can be accepted by name, until its date', () => {
  const entry = { id: 'unknown', reason: 'the mirror has no audits', until: '2026-06-30' };
  const list = readAcceptances(JSON.stringify([entry]));
  assert.deepEqual([acceptsUnknown(list, '2026-06-30'), acceptsUnknown(list, '2026-07-01')], [true, false]);
  assert.equal(acceptsUnknown([], '2026-06-30'), false);
  assert.deepEqual(judgeAdvisories([], list, '2026-06-30').idle, []);
});
