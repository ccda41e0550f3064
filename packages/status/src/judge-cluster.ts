/** From what was read to what is said: pure. Each section has a function; what is wrong is collected beside it. */
import type { ClusterFacts } from './cluster-facts.ts';
import type { ClusterState, ClusterStatus, Problem, Reading } from './cluster-status.ts';
import { indexed, mapped } from './indexed-facts.ts';
import { cloudsOf } from './judge-clouds.ts';
import { leaderOf } from './judge-leader.ts';
import { budgetOf, deletionsOf, orphansOf, routesOf } from './judge-metrics.ts';
import { nodesOf } from './judge-nodes.ts';
import { healthOf, OTHER_PROGRAM, processOf, samplesOf, toldProcess } from './judge-process.ts';
import { servicesOf } from './judge-services.ts';
import { webhooksOf } from './judge-webhooks.ts';
import { workloadOf } from './judge-workload.ts';
import type { MetricSamples } from './metric-samples.ts';
import type { Tell } from './tell-problem.ts';
import { timeOf } from './wire-time.ts';

export function judgeCluster(read: ClusterFacts): ClusterStatus {
  const facts = indexed(read);
  const problems: Problem[] = [];
  const tell: Tell = (problem) => void problems.push(problem);
  const samples = samplesOf(facts.metrics);
  const process = processOf(samples);
  const reported = <T>(read: (samples: MetricSamples) => T): Reading<T> => {
    if ('unknown' in samples) return samples;
    if ('value' in process && process.value.program === 'other') return { notReported: OTHER_PROGRAM };
    return { value: read(samples.value) };
  };
  const judged = {
    leader: leaderOf(facts, process, tell),
    workloads: mapped(facts.workloads, (workloads) => workloads.map((one) => workloadOf(one, tell))),
    health: healthOf(facts.readyz, tell),
    process: toldProcess(process, tell),
    clouds: cloudsOf(facts, samples, process, tell),
    nodes: mapped(facts.nodes, (nodes) => nodesOf(nodes, facts, tell)),
    deletions: reported((metrics) => deletionsOf(metrics, tell)),
    services: mapped(facts.services, (services) => servicesOf(services, facts, tell)),
    routes: reported((metrics) => routesOf(metrics, tell)),
    orphans: reported((metrics) => orphansOf(metrics, tell)),
    budget: reported((metrics) => budgetOf(metrics)),
    events: mapped(facts.events, (events) => ({ warnings: events.filter(({ type }) => type === 'Warning').length })),
    webhooks: mapped(facts.webhooks, (all) => all.flatMap((one) => webhooksOf(one, facts, tell))),
  } satisfies Partial<ClusterStatus>;
  return {
    apiVersion: 'status.outrigger.dev/v1alpha1',
    kind: 'ClusterStatus',
    at: timeOf(facts.at),
    server: facts.server,
    state: stateOf(problems, [...Object.values(judged), ...certificatesOf(judged.webhooks)]),
    problems: [
      ...problems.filter(({ severity }) => severity === 'error'),
      ...problems.filter(({ severity }) => severity === 'warning'),
    ],
    ...judged,
  };
}

function stateOf(problems: readonly Problem[], readings: readonly Reading<unknown>[]): ClusterState {
  if (problems.length > 0) return 'problems';
  return readings.some((reading) => 'unknown' in reading) ? 'unknown' : 'healthy';
}

/** One replica that does not tell leaves the others. */
function certificatesOf(webhooks: ClusterStatus['webhooks']): readonly Reading<unknown>[] {
  const all = 'value' in webhooks ? webhooks.value : [];
  return all.flatMap(({ certificates }) => certificates.map(({ certificate }) => certificate));
}
