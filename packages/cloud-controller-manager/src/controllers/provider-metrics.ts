/** Metrics of one provider among several: `provider` is a label more. */
import type { Labels, MetricDefinition, Metrics } from '@outrigger/kube';

/** Labels by which the machinery's metrics, which others share, name a controller: `cloud-node-controller` is `cloud-node-controller@north` then. */
const CONTROLLER_LABELS = ['name', 'controller'];

/** What has the label already stays as it is. An empty `provider`: of none in particular. */
export function providerMetrics(metrics: Metrics, provider: string): Metrics {
  const named = ({ labels = [] }: MetricDefinition): string | undefined =>
    labels.find((label) => CONTROLLER_LABELS.includes(label));
  const isLabelled = (definition: MetricDefinition): boolean =>
    named(definition) !== undefined || definition.labels?.includes('provider') === true;
  const labelled = <D extends MetricDefinition>(definition: D): D =>
    isLabelled(definition) ? definition : { ...definition, labels: [...(definition.labels ?? []), 'provider'] };
  const own = (definition: MetricDefinition, labels: Labels = {}): Labels => {
    const name = named(definition);
    if (name !== undefined && provider !== '') return { ...labels, [name]: `${labels[name] ?? ''}@${provider}` };
    return isLabelled(definition) ? labels : { ...labels, provider };
  };
  return {
    counter: (definition) => {
      const counter = metrics.counter(labelled(definition));
      return { inc: (labels, value) => counter.inc(own(definition, labels), value) };
    },
    gauge: (definition) => {
      const gauge = metrics.gauge(labelled(definition));
      return { set: (value, labels) => gauge.set(value, own(definition, labels)) };
    },
    histogram: (definition) => {
      const histogram = metrics.histogram(labelled(definition));
      return { observe: (value, labels) => histogram.observe(value, own(definition, labels)) };
    },
    onCollect: (collect, signal) => metrics.onCollect(collect, signal),
  };
}
