/** One measurement of a trickle: the subject runs already, and nodes register one after another at a steady rate. */
import { resources } from '@outrigger/kube';
import { nodeNames, registerNode, removeLease, removeNodes } from './fleet.ts';
import type { MeasureOptions } from './measure.ts';
import { observeNodes, quantile } from './node-observer.ts';
import { runSubject } from './run-subject.ts';

/** New nodes a second. */
const RATE = 10;
/** A subject leads and watches before the first node comes. */
const WARM_UP_MS = 3_000;

export interface ArrivalsMeasurement {
  readonly subject: string;
  readonly nodes: number;
  /** From the registration of a node to its being initialised. */
  readonly p50Seconds: number;
  readonly p99Seconds: number;
  readonly lastSeconds: number;
  readonly cloudCalls: number;
}

export async function measureArrivals(options: MeasureOptions): Promise<ArrivalsMeasurement> {
  const { subject, nodes, client, cloud, surroundings, transport } = options;
  const names = nodeNames(nodes);
  await removeNodes(client);
  await removeLease(client);
  cloud.setInstances(names);
  const { resourceVersion } = await client.of(resources.nodes).list({ limit: 1 });
  return runSubject(subject, surroundings, options.limitSeconds, async ({ signal }) => {
    const observing = observeNodes(transport, nodes, resourceVersion, signal);
    // Awaited below; until then a subject that ends early must not be an unhandled rejection.
    observing.catch(() => {});
    await new Promise((resolve) => setTimeout(resolve, WARM_UP_MS));
    const registeredAt = new Map<string, number>();
    const begin = performance.now();
    const registrations: Promise<void>[] = [];
    for (const [index, name] of names.entries()) {
      const due = begin + (index * 1000) / RATE;
      await new Promise((resolve) => setTimeout(resolve, Math.max(0, due - performance.now())));
      registrations.push(registerNode(client, name).then(() => void registeredAt.set(name, performance.now())));
    }
    await Promise.all(registrations);
    const { doneAt } = await observing;
    const latencies = names.map((name) => Math.max(0, (doneAt.get(name) ?? 0) - (registeredAt.get(name) ?? 0)) / 1000);
    return {
      subject: subject.name,
      nodes,
      p50Seconds: quantile(latencies, 0.5),
      p99Seconds: quantile(latencies, 0.99),
      lastSeconds: latencies.at(-1) ?? Number.NaN,
      cloudCalls: cloud.calls(),
    };
  });
}
