/** The paths of a text that `outrigger status` reads: Events, which tenants may write, Nodes, Services, the Lease, pages of the leader. */
import type { CoreEvent, Node, Service } from '@outrigger/kube';
import { jsonText } from '@outrigger/cloud-controller-manager';
import type { ClusterFacts } from '../../packages/status/src/cluster-facts.ts';
import { judgeCluster } from '../../packages/status/src/judge-cluster.ts';
import { renderStatus } from '../../packages/status/src/render-status.ts';
import type { Target } from './target.ts';

/** An API server keeps them for an hour. */
const MOST_EVENTS = 10_000;
const AT = Date.parse('2026-11-23T10:00:00Z');

/** Both wait, so that Events say why. */
const node: Node = {
  metadata: { name: 'n', uid: 'u', creationTimestamp: '2026-11-23T09:00:00Z' },
  spec: { taints: [{ key: 'node.cloudprovider.kubernetes.io/uninitialized', effect: 'NoSchedule' }] },
};
const service: Service = {
  metadata: { namespace: 'a', name: 'web', uid: 'u', creationTimestamp: '2026-11-23T09:00:00Z' },
  spec: { type: 'LoadBalancer' },
};

const quiet: ClusterFacts = {
  at: AT,
  server: 'https://api.example:6443',
  namespace: 'kube-system',
  leaseName: 'cloud-controller-manager',
  lease: { value: { spec: { holderIdentity: 'n_1', renewTime: '2026-11-23T10:00:00Z' } } },
  workloads: { value: [] },
  pods: { value: [] },
  nodes: { value: [node] },
  services: { value: [service] },
  events: { value: [] },
  webhooks: { value: [] },
  certificates: new Map(),
  readyz: { value: { status: 200, text: 'readyz check passed' } },
  metrics: { value: { status: 200, text: 'outrigger_route_removals_held 0' } },
  plans: new Map(),
};

/** As a person sees it, and a program. */
function show(facts: Partial<ClusterFacts>): void {
  const status = judgeCluster({ ...quiet, ...facts });
  renderStatus(status, { colour: true });
  jsonText(status);
}

const aboutEach = (event: Partial<CoreEvent>): readonly CoreEvent[] =>
  (['Node', 'Service'] as const).map((kind) => ({
    metadata: { name: 'e' },
    involvedObject: { kind, uid: 'u', ...(kind === 'Service' && { namespace: 'a' }) },
    type: 'Warning',
    reason: 'SyncLoadBalancerFailed',
    source: { component: 'service-lb-controller' },
    lastTimestamp: '2026-11-23T10:00:00Z',
    ...event,
  }));

/** All that one Event says. */
const saying = (text: string): readonly CoreEvent[] => [
  ...aboutEach({ message: text }),
  ...aboutEach({ reason: text, lastTimestamp: text, eventTime: text }),
  ...aboutEach({ source: { component: text }, reportingComponent: text, type: text }),
  ...aboutEach({ involvedObject: { kind: text, namespace: text, uid: text, name: text } }),
];

export const statusTargets: readonly Target[] = [
  { name: 'status: an Event', run: (text) => show({ events: { value: saying(text) } }) },
  {
    name: 'status: Events',
    run: (text) => {
      const messages = text.split(',', MOST_EVENTS);
      show({ events: { value: messages.flatMap((message) => aboutEach({ message })) } });
    },
  },
  {
    name: 'status: a Service and a Node',
    run: (text) => {
      const condition = { type: 'LoadBalancerReady', status: 'False', reason: text, message: text } as const;
      const one = { ...service, status: { conditions: [{ ...condition, lastTransitionTime: text }] } } as Service;
      const plans = new Map([
        ['node/n', text],
        ['service/a/web', text],
      ]);
      show({ services: { value: [one, service] }, plans });
      const metadata = { ...node.metadata, name: text, creationTimestamp: text };
      const ofClass = { ...service, metadata, spec: { ...service.spec, loadBalancerClass: text } } as Service;
      show({ nodes: { value: [{ ...node, metadata }] }, services: { value: [ofClass] } });
    },
  },
  {
    name: 'status: Lease',
    run: (text) => show({ lease: { value: { spec: { holderIdentity: text, renewTime: text, acquireTime: text } } } }),
  },
  {
    name: 'status: metrics of the leader',
    run: (text) => {
      const named = `outrigger_cloud_answers{provider="${text}",service="a"} 0`;
      const labels = `outrigger_cloud_answers{${text}} 0`;
      for (const page of [text, named, labels]) show({ metrics: { value: { status: 200, text: page } } });
    },
  },
  {
    name: 'status: health of the leader',
    run: (page) => {
      for (const text of [page, `[-]${page}`]) show({ readyz: { value: { status: 500, text } } });
    },
  },
];
