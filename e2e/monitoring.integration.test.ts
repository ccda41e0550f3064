import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { parse } from 'yaml';
import { EVERY_SERIES, scrapeProgram } from './monitored-program.ts';
import { selectorsOf, type Matcher, type Selector } from './promql-selectors.ts';

/** Labels that Prometheus gives to a target, and its own metric. */
const TARGET = new Set(['job', 'instance', 'pod', 'namespace', 'service', 'endpoint', 'container']);
const UP = 'up';

/** Values that this run does not bring about: what else names them. */
const ELSEWHERE: readonly string[] = [
  // Statuses of HTTP; `<error>` is upstream's.
  'rest_client_requests_total code',
  // `error` and `success`, upstream's.
  'kubernetes_healthchecks_total status',
  // As in `controller_runtime_reconcile_total`.
  'controller_runtime_reconcile_errors_total controller',
];

interface Metric {
  readonly type: string;
  /** Of its samples, `le` apart. None: nothing of it has happened. */
  readonly samples: readonly Readonly<Record<string, string>>[];
}

interface Query {
  readonly where: string;
  readonly expr: string;
}

const text = (path: string): string => readFileSync(new URL(`../${path}`, import.meta.url), 'utf8');

function queries(): readonly Query[] {
  interface Rule {
    readonly spec: { readonly groups: readonly { readonly rules: readonly { alert: string; expr: string }[] }[] };
  }
  interface Dashboard {
    readonly panels: readonly { readonly title: string; readonly targets?: readonly { readonly expr: string }[] }[];
  }
  const { spec } = parse(text('deploy/monitoring/prometheus-rule.yml')) as Rule;
  const { panels } = JSON.parse(text('deploy/monitoring/dashboard.json')) as Dashboard;
  return [
    ...spec.groups.flatMap(({ rules }) => rules.map(({ alert, expr }) => ({ where: `alert ${alert}`, expr }))),
    ...panels.flatMap(({ targets = [], title }) =>
      targets.map(({ expr }) => ({
        where: `panel ${title}`,
        expr: expr.replaceAll('$__rate_interval', '5m').replaceAll('"$pod"', '".*"'),
      })),
    ),
  ];
}

function metricsOf(page: string): ReadonlyMap<string, Metric> {
  const metrics = new Map<string, Metric>();
  for (const [, name = '', type = ''] of page.matchAll(/^# TYPE (\S+) (\S+)$/gmu)) {
    const lines = page.matchAll(new RegExp(`^${name}(?:_bucket|_sum|_count)?(?:\\{(.*)\\})? `, 'gmu'));
    const samples = [...lines].map(([, labels = '']) => {
      const pairs = [...labels.matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/gu)];
      return Object.fromEntries(pairs.map(([, label = '', value = '']) => [label, value]));
    });
    metrics.set(name, { type, samples });
  }
  return metrics;
}

/** Name → type and labels, of both tables of the page. */
function documented(): ReadonlyMap<
  string,
  { readonly type: string; readonly labels: readonly string[]; own: boolean }
> {
  const page = text('docs/reference/metrics.md');
  const more = page.indexOf('## More');
  const rows = [...page.matchAll(/^\| `(\w+)` \| (\w+) \| ([^|]*) \|/gmu)];
  return new Map(
    rows.map(({ 1: name = '', 2: type = '', 3: labels = '', index }) => [
      name,
      { type, labels: labels.split(',').flatMap((label) => label.trim() || []), own: index > more },
    ]),
  );
}

function matches(samples: Metric['samples'], { label, operator, value }: Matcher): boolean {
  if (operator === '!=' || operator === '!~') return true;
  const wanted = operator === '=' ? [value] : value.split('|');
  const isWanted = new RegExp(`^(?:${wanted.join('|')})$`, 'u');
  return samples.some((sample) => isWanted.test(sample[label] ?? ''));
}

/** What is wrong with it; nothing when a running program has what it asks for. */
function problemsOf({ labels, matchers, metric }: Selector, served: ReadonlyMap<string, Metric>): readonly string[] {
  if (metric === UP) return [];
  const name = served.has(metric) ? metric : metric.replace(/_(?:bucket|sum|count)$/u, '');
  const found = served.get(name);
  if (!found) return [`${metric} is not served`];
  if (name !== metric && found.type !== 'histogram') return [`${name} is a ${found.type}`];
  const own = labels.filter((label) => !TARGET.has(label) && !(label === 'le' && metric.endsWith('_bucket')));
  const known = found.samples.length > 0 ? found.samples.flatMap(Object.keys) : (documented().get(name)?.labels ?? []);
  return [
    ...own.filter((label) => !known.includes(label)).map((label) => `${metric} has no label ${label}`),
    ...matchers
      .filter(({ label }) => !TARGET.has(label) && !ELSEWHERE.includes(`${name} ${label}`))
      .filter((matcher) => !matches(found.samples, matcher))
      .map(({ label, value }) => `no sample of ${metric} has ${label} ${value}`),
  ];
}

test('all that alerts and dashboard ask for is in the metrics of a running program, and so is the page of metrics', async (t) => {
  const one = await scrapeProgram(EVERY_SERIES);
  const several = await scrapeProgram(['outrigger_provider_open{'], ['north', 'south']);
  const provider = 'outrigger_provider_open';
  const open = metricsOf(several.text).get(provider);
  assert.ok(open);
  const served = new Map([...metricsOf(one.text), [provider, open]]);

  const asked = queries();
  assert.ok(asked.length > 60, String(asked.length));
  for (const { expr, where } of asked) {
    await t.test(where, () => {
      assert.deepEqual(
        selectorsOf(expr).flatMap((selector) => problemsOf(selector, served)),
        [],
        expr,
      );
    });
  }

  await t.test('the page of metrics has each of our own, with its type and labels', () => {
    const page = documented();
    const own = [...served].filter(([name]) => !/^(?:nodejs|process)_/u.test(name));
    assert.deepEqual(
      own.map(([name]) => name).filter((name) => !page.has(name)),
      [],
      'not on the page',
    );
    for (const [name, { samples, type }] of own) {
      const { labels, type: told } = page.get(name) ?? { labels: [] };
      assert.equal(told, type, name);
      const labelled = new Set(samples.flatMap(Object.keys).filter((label) => label !== 'le'));
      if (samples.length > 0) assert.deepEqual(labelled, new Set(labels), name);
    }
    const webhooks = /^cloud_provider_webhook_/u;
    const missing = [...page].filter(([name, { own }]) => own && !served.has(name) && !webhooks.test(name));
    assert.deepEqual(missing, [], 'on the page, and not served');
  });
});

test('queries that no program answers are found', () => {
  const served = new Map<string, Metric>([['a_total', { type: 'counter', samples: [{ result: 'done' }] }]]);
  const problems = (expr: string): readonly string[] =>
    selectorsOf(expr).flatMap((selector) => problemsOf(selector, served));
  assert.deepEqual(problems('sum by (result, pod) (rate(a_total{job="x", result="done"}[5m]))'), []);
  assert.deepEqual(problems('sum by (kind) (a_total)'), ['a_total has no label kind']);
  assert.deepEqual(problems('b_total'), ['b_total is not served']);
  assert.deepEqual(problems('a_total{result="failed"}'), ['no sample of a_total has result failed']);
  assert.deepEqual(problems('a_total_bucket'), ['a_total is a counter']);
});
