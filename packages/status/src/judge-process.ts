/** What the pages of the leader say of its own process. Pure. */
import type { Fact, LeaderPage } from './cluster-facts.ts';
import type { HealthStatus, ProcessStatus, Reading } from './cluster-status.ts';
import { mapped } from './indexed-facts.ts';
import { MetricSamples } from './metric-samples.ts';
import { counted, type Tell } from './tell-problem.ts';
import { timeOf } from './wire-time.ts';

export const OTHER_PROGRAM = 'the program that leads is not Outrigger, and does not report it';

export function healthOf(readyz: Fact<LeaderPage>, tell: Tell): Reading<HealthStatus> {
  if ('unknown' in readyz) return readyz;
  const { status, text } = readyz.value;
  const failing = [...text.matchAll(/^\[-\](\S+)/gmu)].map(([, name = '']) => name);
  if (status !== 200 && failing.length === 0) return { unknown: `its health was answered with status ${status}` };
  const ready = status === 200;
  if (!ready) {
    tell({
      severity: 'error',
      section: 'health',
      message: `The leader is not ready: ${failing.join(', ')} failed.`,
      remedy: 'Read its log, which says why.',
      commands: [],
      runbook: 'OutriggerDown',
    });
  }
  return { value: { ready, failing } };
}

export function samplesOf(page: Fact<LeaderPage>): Fact<MetricSamples> {
  if ('unknown' in page) return page;
  return page.value.status === 200
    ? { value: new MetricSamples(page.value.text) }
    : { unknown: `/metrics was answered with status ${page.value.status}` };
}

export function processOf(samples: Fact<MetricSamples>): Reading<ProcessStatus> {
  return mapped(samples, (metrics) => {
    const version = metrics.of('kubernetes_build_info')[0]?.labels['git_version'];
    const started = (metrics.of('process_start_time_seconds')[0]?.value ?? NaN) * 1000;
    const running = metrics.of('running_managed_controllers').filter(({ value }) => value > 0);
    return {
      program: metrics.hasAny('outrigger_') ? 'outrigger' : 'other',
      ...(version !== undefined && { version }),
      // No date is further from 1970.
      ...(Math.abs(started) <= 8.64e15 && { startedAt: timeOf(started) }),
      controllers: [...new Set(running.map(({ labels }) => labels['name'] ?? ''))].toSorted(),
      hanging: metrics.sum('outrigger_reconciles_hanging'),
    };
  });
}

export function toldProcess(process: Reading<ProcessStatus>, tell: Tell): Reading<ProcessStatus> {
  if ('value' in process && process.value.hanging > 0) {
    tell({
      severity: 'warning',
      section: 'process',
      message: `${counted(process.value.hanging, 'reconcile')} ran for more than 5 minutes, and still ${process.value.hanging === 1 ? 'runs' : 'run'}.`,
      remedy: 'Read the log of the leader: it names the objects and the requests that they wait for.',
      commands: [],
      runbook: 'OutriggerReconcilesFailing',
    });
  }
  return process;
}
