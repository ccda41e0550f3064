/** Prometheus' own tool: the alerts are well formed, are told when they should be and in the words that are meant, and so are the metrics. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { before, after, test } from 'node:test';
import { parse, stringify } from 'yaml';
import { EVERY_SERIES, scrapeProgram } from '../monitored-program.ts';
import { alertCases, type AlertCase } from './alert-cases.ts';
import { judgeProgram } from './programs.ts';

interface Rule {
  readonly alert: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
}

interface RuleGroups {
  readonly groups: readonly { readonly rules: readonly Rule[] }[];
}

const JOB = 'job="outrigger-cloud-controller-manager"';

const spec = (
  parse(readFileSync(new URL('../../deploy/monitoring/prometheus-rule.yml', import.meta.url), 'utf8')) as {
    readonly spec: RuleGroups;
  }
).spec;
const rules = new Map(spec.groups.flatMap((group) => group.rules.map((rule) => [rule.alert, rule] as const)));

const directory = mkdtempSync(join(tmpdir(), 'outrigger-promtool-'));
after(() => rmSync(directory, { recursive: true }));
let program = '';
before(async () => void (program = await judgeProgram('promtool')));

function promtool(args: readonly string[], input = ''): { readonly status: number | null; readonly output: string } {
  const { error, status, stderr, stdout } = spawnSync(program, args, { cwd: directory, input, encoding: 'utf8' });
  if (error) throw error;
  return { status, output: `${stdout}${stderr}` };
}

function save(name: string, content: unknown): string {
  writeFileSync(join(directory, name), stringify(content));
  return name;
}

/** As promtool's tests of rules are written. */
function ruleTest({ alert, series, told }: AlertCase, rule: Rule | undefined): unknown {
  const expected = (minute: number, alerts: readonly unknown[]): unknown => ({
    eval_time: `${minute}m`,
    alertname: alert,
    exp_alerts: alerts,
  });
  const { runbook_url } = rule?.annotations ?? {};
  return {
    name: alert,
    interval: '1m',
    input_series: Object.entries(series).map(([name, values]) => ({ series: name.replace('{', `{${JOB},`), values })),
    alert_rule_test: told
      ? [
          expected(told.notYet, []),
          expected(told.at, [
            {
              exp_labels: { ...told.labels, severity: rule?.labels['severity'] },
              exp_annotations: { summary: told.summary, runbook_url },
            },
          ]),
        ]
      : [20, 60, 150].map((minute) => expected(minute, [])),
  };
}

test('promtool check rules: the alerts are rules of Prometheus', () => {
  const file = save('rules.yml', spec);
  const { output, status } = promtool(['check', 'rules', '--lint=all', '--lint-fatal', file]);
  assert.equal(status, 0, output);
  assert.match(output, new RegExp(`SUCCESS: ${rules.size} rules found`, 'u'));
  const [first] = spec.groups;
  const wrong = { groups: [{ ...first, rules: [{ alert: 'Wrong', expr: 'sum by (a (b)' }] }] };
  assert.notEqual(promtool(['check', 'rules', save('wrong.yml', wrong)]).status, 0);
});

test('promtool test rules: each alert is told when it should be, in these words', async (t) => {
  save('rules.yml', spec);
  assert.deepEqual([...new Set(alertCases.filter(({ told }) => told).map(({ alert }) => alert))], [...rules.keys()]);
  const testRules = (cases: readonly AlertCase[]): ReturnType<typeof promtool> =>
    promtool([
      'test',
      'rules',
      save('test.yml', {
        rule_files: ['rules.yml'],
        evaluation_interval: '1m',
        tests: cases.map((one) => ruleTest(one, rules.get(one.alert))),
      }),
    ]);
  for (const one of alertCases) {
    await t.test(`${one.alert}${one.told ? '' : ' is not told'}`, () => {
      const { output, status } = testRules([one]);
      assert.equal(status, 0, output);
      // The same series, and something else expected of them.
      const told = one.told ? { ...one.told, summary: 'other words' } : { notYet: 1, at: 60, summary: '' };
      assert.notEqual(testRules([{ ...one, told }]).status, 0);
    });
  }
});

/** What promtool would have otherwise, of names that are not ours to choose. */
const GIVEN: readonly RegExp[] = [
  // Those of upstream, by which dashboards ask.
  /^node_ipam_controller_\w+ label names should be written in 'snake_case'/u,
  // Those of `@prometheus-io/client`.
  /^nodejs_(?:active_\w+_total|eventloop_utilization_\w+) /u,
];

test('promtool check metrics: the metrics of a running program are as Prometheus wants them', async () => {
  const { pages } = await scrapeProgram(EVERY_SERIES);
  for (const page of pages) {
    const { output, status } = promtool(['check', 'metrics'], page);
    const problems = output.split('\n').filter((line) => line !== '' && !GIVEN.some((given) => given.test(line)));
    assert.deepEqual(problems, [], String(status));
  }
  assert.notEqual(promtool(['check', 'metrics'], '# TYPE a counter\na 1\n').status, 0);
});
