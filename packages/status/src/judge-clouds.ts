/** Whether the clouds answer the leader. Pure. Entry point: `cloudsOf`. */
import type { CoreEvent } from '@outrigger/kube';
import { newestEvent } from './cluster-events.ts';
import type { Fact } from './cluster-facts.ts';
import type { CloudStatus, Problem, ProcessStatus, Reading } from './cluster-status.ts';
import type { IndexedFacts } from './indexed-facts.ts';
import { OTHER_PROGRAM } from './judge-process.ts';
import type { MetricSamples } from './metric-samples.ts';
import { shell } from './shell-command.ts';
import type { Tell } from './tell-problem.ts';

/** As the host takes them; whatever else a page of metrics says is none. */
const PROVIDER = /^[a-z0-9-]+$/u;

/** A failing cloud is known from two pages of the leader, and from Events where neither can be read. */
export function cloudsOf(
  facts: IndexedFacts,
  samples: Fact<MetricSamples>,
  process: Reading<ProcessStatus>,
  tell: Tell,
): Reading<readonly CloudStatus[]> {
  const page = 'value' in facts.readyz ? cloudsOfHealth(facts.readyz.value.text) : undefined;
  const metrics = 'value' in samples ? cloudsOfMetrics(samples.value) : [];
  const event = cloudEvent(facts);
  const isOther = 'value' in process && process.value.program === 'other';
  const told = [...metrics, ...(page ?? [])].filter(({ provider }) => PROVIDER.test(provider));
  const known = [...new Map(told.map((one) => [keyOf(one), one])).values()];
  // A page that says that all answer is newer than what another says of one service.
  const failing = known.filter(({ answers }) => !answers);
  for (const one of failing) tell(cloudProblem(one));
  if (failing.length === 0 && event && page === undefined && metrics.length === 0) {
    tell({
      severity: 'error',
      section: 'clouds',
      message: event.message ?? '',
      commands: ['kubectl get events --all-namespaces --field-selector=involvedObject.name=kube-system'],
      runbook: 'OutriggerCloudCallsFailing',
    });
  }
  if (isOther) return { notReported: OTHER_PROGRAM };
  if ('unknown' in samples && page === undefined) return { unknown: samples.unknown };
  return { value: known.toSorted((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1)) };
}

function keyOf({ provider, service }: CloudStatus): string {
  return `${provider}\n${service}`;
}

function cloudProblem({ code = '', failingSince, provider, service }: CloudStatus): Problem {
  const what = service === '' ? `Cloud ${provider}` : `Cloud ${provider}, ${service}`;
  const since = failingSince === undefined ? '' : ` since ${failingSince}`;
  const refused = code === 'unauthenticated';
  const why = refused ? 'The cloud refuses the credentials' : 'The cloud does not answer';
  return {
    severity: 'error',
    section: 'clouds',
    about: what,
    message: `${why}${since}${code === '' || refused ? '' : ` (${code})`}: new nodes, Services and routes wait, nothing is deleted.`,
    remedy: refused
      ? 'Correct the credentials in the cloud config, which is read again, and try them.'
      : 'Check the cloud, a proxy and DNS, and try the cloud config; requests are retried.',
    commands: [shell`outrigger config validate --cloud-provider=${provider} --cloud-config=FILE`],
    runbook: 'OutriggerCloudCallsFailing',
  };
}

/** `[+]cloud-memory ok (failing: instances: unauthenticated since 2026-…, routes: …)`. `undefined`: the page says nothing of clouds. */
function cloudsOfHealth(text: string): readonly CloudStatus[] | undefined {
  const lines = [...text.matchAll(/^\[\+\]cloud-(\S+) ok(?: \(failing: (.*)\))?$/gmu)];
  if (lines.length === 0) return undefined;
  return lines.flatMap(([, provider = '', failing]): readonly CloudStatus[] => {
    if (failing === undefined) return [];
    return failing.split(', ').map((one) => {
      const [, service = one, code = '', since] = /^(.*): (\S*) since (\S+)$/u.exec(one) ?? [];
      return { provider, service, answers: false, code, ...(since !== undefined && { failingSince: since }) };
    });
  });
}

function cloudsOfMetrics(metrics: MetricSamples): readonly CloudStatus[] {
  const services = metrics.of('outrigger_cloud_answers').map(({ labels, value }) => ({
    provider: labels['provider'] ?? '',
    service: labels['service'] ?? '',
    answers: value > 0,
  }));
  const closed = metrics.of('outrigger_provider_open').filter(({ value }) => value === 0);
  return [
    ...services,
    ...closed.map(({ labels }) => ({
      provider: labels['provider'] ?? '',
      service: '',
      answers: false,
      code: 'not open',
    })),
  ];
}

function cloudEvent({ eventsOf }: IndexedFacts): CoreEvent | undefined {
  const reasons = new Set(['CloudCredentialsRefused', 'CloudUnreachable', 'CloudAnswers']);
  const events = [...eventsOf.values()].flat();
  const newest = newestEvent(
    events.filter(
      ({ involvedObject: about, reason = '' }) =>
        reasons.has(reason) && about.kind === 'Namespace' && about.name === 'kube-system' && !about.namespace,
    ),
  );
  return newest?.type === 'Warning' ? newest : undefined;
}
