/** One measurement of a burst: N nodes wait, one subject is started, and everything it does is counted from outside. */
import { resources, type Client, type Transport } from '@outrigger/kube';
import { nodeNames, registerNodes, removeLease, removeNodes } from './fleet.ts';
import { observeNodes, quantile } from './node-observer.ts';
import { readProcessUsage } from './process-usage.ts';
import { runSubject } from './run-subject.ts';
import type { Subject, Surroundings } from './subjects.ts';

/** Events are written after the node: they get this time before they are counted. */
const EVENTS_MS = 2_000;

export interface Measurement {
  readonly subject: string;
  readonly nodes: number;
  /** From the start of the process to the first change of a node. */
  readonly startToFirstWriteSeconds: number;
  /** From the first change of a node to the last node being initialised. */
  readonly seconds: number;
  readonly nodesPerSecond: number;
  readonly p50Seconds: number;
  readonly p99Seconds: number;
  /** By verb and resource, from the audit log, without leases. */
  readonly apiCalls: Readonly<Record<string, number>>;
  readonly writesPerNode: number;
  readonly cloudCalls: number;
  readonly cpuSeconds: number;
  /** What the subject costs the API server beside what it takes itself: from its start to the last node, the observer's share included. */
  readonly apiServerCpuSeconds: number;
  readonly peakRssMiB: number;
}

/** The simulated cloud, as far as it is measured. */
export interface MeasuredCloud {
  /** Makes exactly these machines exist. */
  setInstances(names: readonly string[]): void;
  /** Requests since the last `setInstances`. */
  calls(): number;
}

export interface MeasureOptions {
  readonly subject: Subject;
  readonly nodes: number;
  readonly client: Client;
  readonly transport: Transport;
  readonly cloud: MeasuredCloud;
  readonly surroundings: Surroundings;
  readonly limitSeconds: number;
}

export async function measureBurst(options: MeasureOptions): Promise<Measurement> {
  const { subject, nodes, client, cloud, surroundings, transport } = options;
  const { auditLog, pids } = surroundings.controlPlane;
  const apiServerCpu = (): number => readProcessUsage(pids['kube-apiserver'] ?? 0).cpuSeconds;
  const names = nodeNames(nodes);
  await removeNodes(client);
  cloud.setInstances(names);
  await registerNodes(client, names);
  await removeLease(client);
  const { resourceVersion } = await client.of(resources.nodes).list({ limit: 1 });
  const mark = await auditLog.mark();
  const apiServerCpuBefore = apiServerCpu();
  return runSubject(subject, surroundings, options.limitSeconds, async ({ pid, startedAt, signal }) => {
    const { firstWriteAt, lastDoneAt, doneAt } = await observeNodes(transport, nodes, resourceVersion, signal);
    const usage = readProcessUsage(pid);
    const apiServerCpuSeconds = apiServerCpu() - apiServerCpuBefore;
    const seconds = (lastDoneAt - firstWriteAt) / 1000;
    const latencies = [...doneAt.values()].map((at) => (at - firstWriteAt) / 1000);
    await new Promise((resolve) => setTimeout(resolve, EVENTS_MS));
    const apiCalls = await auditLog.count(({ userAgent = '', objectRef, verb }) => {
      if (userAgent.startsWith('bench') || userAgent.startsWith('kube-') || !objectRef?.resource) return undefined;
      if (objectRef.resource === 'leases') return undefined;
      return `${verb} ${objectRef.resource}${objectRef.subresource ? `/${objectRef.subresource}` : ''}`;
    }, mark);
    const writes = Object.entries(apiCalls)
      .filter(([call]) => /^(create|update|patch|delete) (nodes|events)/.test(call))
      .reduce((sum, [, count]) => sum + count, 0);
    return {
      subject: subject.name,
      nodes,
      startToFirstWriteSeconds: (firstWriteAt - startedAt) / 1000,
      seconds,
      nodesPerSecond: nodes / seconds,
      p50Seconds: quantile(latencies, 0.5),
      p99Seconds: quantile(latencies, 0.99),
      apiCalls,
      writesPerNode: writes / nodes,
      cloudCalls: cloud.calls(),
      ...usage,
      apiServerCpuSeconds,
    };
  });
}
