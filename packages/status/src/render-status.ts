/** A status as text for a person, in the manner of `kubectl get`: problems first, then a table of each section. Pure. */
import { oneLine } from '@outrigger/cloud-controller-manager';
import { ageText } from './age-text.ts';
import type { ClusterStatus, Problem, Reading, WebhookStatus } from './cluster-status.ts';

export interface RenderOptions {
  /** Escape sequences of a terminal. */
  readonly colour: boolean;
}

/** One line each; the first cell of a row begins at the margin. */
type Rows = readonly (readonly string[])[];

const RED = 31;
const YELLOW = 33;
const GREEN = 32;
/** Of a list of what waits, those that are shown; `--output=json` has all. */
const MOST_SHOWN = 20;

export function renderStatus(status: ClusterStatus, { colour }: RenderOptions): string {
  const paint = (code: number, text: string): string => (colour ? `\u001B[${code}m${text}\u001B[0m` : text);
  const at = Date.parse(status.at);
  const tables = sectionsOf(status, (time) => ageOf(at, time));
  const unknown = tables.flatMap(({ lacks = [], reading, title }) =>
    ['unknown' in reading ? reading.unknown : [], lacks].flat().map((why) => ({ title, why: oneLine(why) })),
  );
  // Once for all that lack the same: a leader that cannot be reached leaves seven sections unknown.
  const reasons = [...Map.groupBy(unknown, ({ why }) => why)].map(
    ([why, some]) => `  ${some.map(({ title }) => title).join(', ')}: ${why}\n`,
  );
  return [
    headline(status, unknown.length, paint),
    ...status.problems.map((problem, index) => renderProblem(problem, index + 1, paint)),
    ...(unknown.length === 0 ? [] : [`${paint(YELLOW, 'UNKNOWN')}\n${reasons.join('')}`]),
    ...tables.map(({ reading, rows, title }) => renderSection(title, reading, rows)),
  ].join('\n');
}

type Paint = (code: number, text: string) => string;

function headline({ at, problems, server, state }: ClusterStatus, unknown: number, paint: Paint): string {
  const counts = [
    ...(problems.length > 0 ? [`${problems.length} ${problems.length === 1 ? 'problem' : 'problems'}`] : []),
    ...(unknown > 0 ? [`${unknown} of the checks could not be made`] : []),
  ];
  const words = {
    healthy: paint(GREEN, 'Healthy'),
    problems: paint(RED, 'Problems'),
    unknown: paint(YELLOW, 'Unknown'),
  }[state];
  return `${words}${counts.length > 0 ? `: ${counts.join('; ')}` : ''} (${server}, ${at})\n`;
}

function renderProblem(
  { about, commands, message, remedy, runbook, severity }: Problem,
  number: number,
  paint: Paint,
): string {
  const mark = severity === 'error' ? paint(RED, 'ERROR') : paint(YELLOW, 'WARNING');
  return [
    `${number}. ${mark} ${oneLine(`${about === undefined ? '' : `${about}: `}${message}`)}`,
    ...(remedy === undefined ? [] : [`   Remedy:  ${oneLine(remedy)}`]),
    ...commands.map((command, index) => `   ${index === 0 ? 'Run:     ' : '         '}${oneLine(command)}`),
    ...(runbook === undefined ? [] : [`   Runbook: ${runbook}`]),
    '',
  ].join('\n');
}

interface SectionText {
  readonly title: string;
  readonly reading: Reading<unknown>;
  /** The first is the heads. Without any other: nothing is there. */
  readonly rows: Rows;
  /** Why parts of a reading that is there are unknown. Default: none is. */
  readonly lacks?: readonly string[];
}

function section<T>(
  title: string,
  reading: Reading<T>,
  heads: readonly string[],
  rows: (value: T) => Rows,
): SectionText {
  return { title, reading, rows: 'value' in reading ? [heads, ...rows(reading.value)] : [heads] };
}

type Age = (time: string | undefined) => string;

function sectionsOf(status: ClusterStatus, age: Age): readonly SectionText[] {
  return [
    section('LEADER', status.leader, ['LEASE', 'HOLDER', 'LEADS', 'RENEWED', 'SINCE', 'TRANSITIONS'], (leader) => [
      [
        leader.lease,
        leader.holder || '<none>',
        leader.holds ? 'yes' : 'no',
        age(leader.renewedAt),
        age(leader.since),
        String(leader.transitions),
      ],
    ]),
    section('WORKLOADS', status.workloads, ['KIND', 'NAMESPACE', 'NAME', 'READY', 'UPDATED', 'VERSION'], (all) =>
      all.map((one) => [
        one.kind,
        one.namespace,
        one.name,
        `${one.ready}/${one.desired}`,
        String(one.updated),
        one.version ?? one.image,
      ]),
    ),
    section('HEALTH', status.health, ['READY', 'FAILING'], ({ failing, ready }) => [
      [ready ? 'yes' : 'no', failing.join(',') || '<none>'],
    ]),
    section('PROCESS', status.process, ['PROGRAM', 'VERSION', 'AGE', 'CONTROLLERS'], (process) => [
      [
        process.program === 'outrigger' ? 'Outrigger' : 'other',
        process.version ?? '<unknown>',
        age(process.startedAt),
        process.controllers.join(',') || '<none>',
      ],
    ]),
    section('CLOUDS', status.clouds, ['PROVIDER', 'SERVICE', 'ANSWERS', 'REASON', 'SINCE'], (clouds) =>
      clouds.map((one) => [
        one.provider,
        one.service || '<all>',
        one.answers ? 'yes' : 'no',
        one.code ?? '',
        one.failingSince === undefined ? '' : age(one.failingSince),
      ]),
    ),
    section('NODES', status.nodes, ['TOTAL', 'INITIALIZED', 'WAITING'], ({ initialized, total, waiting }) => [
      [String(total), String(initialized), String(waiting.length)],
      ...shown(waiting.map(({ name, reason = '', since }) => [`  ${name}`, age(since), reason])),
    ]),
    section('NODE DELETIONS', status.deletions, ['HELD', 'UNPROVED'], ({ held, unproved }) => [
      [String(held), String(unproved)],
    ]),
    section('SERVICES', status.services, ['TOTAL', 'READY', 'WAITING'], ({ ready, total, waiting }) => [
      [String(total), String(ready), String(waiting.length)],
      ...shown(
        waiting.map((one) => [
          `  ${one.namespace}/${one.name}`,
          age(one.since),
          [one.state, one.reason, one.message, one.loadBalancerClass && `class ${one.loadBalancerClass}`]
            .filter((text) => text !== undefined && text !== '')
            .join(': '),
        ]),
      ),
    ]),
    section('ROUTES', status.routes, ['REMOVALS HELD'], ({ removalsHeld }) => [[String(removalsHeld)]]),
    section('ORPHANS', status.orphans, ['KIND', 'COUNT', 'REMOVALS HELD'], (orphans) =>
      orphans.map(({ count, held, kind }) => [kind, String(count), String(held)]),
    ),
    section('BUDGET', status.budget, ['PROVIDER', 'REQUESTS', 'FAILED', 'THROTTLED', 'WAITED', 'IN FLIGHT'], (all) =>
      all.map((one) => [
        one.provider,
        ...[one.requests, one.failed, one.throttled, one.waited, one.inFlight].map((count) => String(count)),
      ]),
    ),
    section('EVENTS', status.events, ['WARNINGS'], ({ warnings }) => [[String(warnings)]]),
    {
      ...section('WEBHOOKS', status.webhooks, WEBHOOK_HEADS, (all) =>
        all.map((one) => [
          one.kind,
          one.name,
          one.webhook,
          one.failurePolicy,
          one.authorityExpires ?? '<unknown>',
          certificateExpires(one) ?? '<unknown>',
        ]),
      ),
      lacks: lacksOf(status.webhooks),
    },
  ];
}

const WEBHOOK_HEADS = ['KIND', 'NAME', 'WEBHOOK', 'ON FAILURE', 'AUTHORITY EXPIRES', 'CERTIFICATE EXPIRES'];

/** The first of its replicas. */
function certificateExpires({ certificates }: WebhookStatus): string | undefined {
  return certificates
    .flatMap((one) => ('value' in one.certificate ? [one.certificate.value.expires] : []))
    .toSorted()[0];
}

/** Once for all webhooks of one listener. */
function lacksOf(webhooks: ClusterStatus['webhooks']): readonly string[] {
  const all = 'value' in webhooks ? webhooks.value : [];
  const lacks = all.flatMap(({ certificates }) =>
    certificates.flatMap(({ certificate }) => ('unknown' in certificate ? [certificate.unknown] : [])),
  );
  return [...new Set(lacks)];
}

function shown(rows: Rows): Rows {
  return rows.length <= MOST_SHOWN
    ? rows
    : [...rows.slice(0, MOST_SHOWN), [`  … and ${rows.length - MOST_SHOWN} more: --output=json`]];
}

function renderSection(title: string, reading: Reading<unknown>, rows: Rows): string {
  if ('unknown' in reading) return `${title}\n  <unknown>\n`;
  if ('notReported' in reading) return `${title}\n  <not reported>: ${reading.notReported}\n`;
  if (rows.length === 1) return `${title}\n  <none>\n`;
  // What is listed below a sum is a table of its own: its names do not widen the columns of the sum.
  const [sums, list] = [rows.filter((row) => !isListed(row)), rows.filter((row) => isListed(row))];
  return `${title}\n${table(sums)}${list.length > 0 ? table(list) : ''}`;
}

function isListed([first = '']: readonly string[]): boolean {
  return first.startsWith('  ');
}

/** Columns as wide as their widest cell; the last one is not filled up. */
function table(given: Rows): string {
  const rows = given.map((row) => row.map((cell) => oneLine(cell)));
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  return rows
    .map((row) => `  ${row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join('   ')}`.trimEnd())
    .map((line) => `${line}\n`)
    .join('');
}

/** As `kubectl` says ages: `35s`, `12m`, `5h`, `3d`. */
function ageOf(at: number, time: string | undefined): string {
  return time === undefined ? '<unknown>' : ageText(at - Date.parse(time));
}
