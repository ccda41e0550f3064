/**
 * For tests: the cases of upstream's unit tables as data, and what is done here. From kubernetes/cloud-provider v0.36.3
 * `controllers/nodelifecycle/node_lifecycle_controller_test.go`: the first six are of `Test_NodesDeleted` (Instances and
 * InstancesV2 have one outcome), the others of `Test_NodesShutdown`.
 */
import type { LifecyclePlan } from './plan.ts';

export interface Scenario {
  readonly name: string;
  readonly ready: 'True' | 'False' | 'Unknown';
  /** `none`: the node has none. */
  readonly providerID: 'ours' | 'none';
  readonly tainted?: boolean;
  /** What the cloud says, for as long as it is asked. */
  readonly cloud: 'running' | 'shutdown' | 'gone' | 'error';
  readonly upstream: 'stays' | 'is deleted' | 'is tainted' | 'loses the taint';
  /** After two readings a grace period apart. */
  readonly expected: LifecyclePlan['kind'];
  /** Where it is not what upstream does: words of the row in docs/reference/differences/node-lifecycle.md that tells why. */
  readonly why?: string;
}

const needsProviderID = 'Not deleted, unless `--unknown-node-deletion-period` is set';

export const upstreamScenarios: readonly Scenario[] = [
  {
    name: 'not ready and does not exist',
    ready: 'False',
    providerID: 'ours',
    cloud: 'gone',
    upstream: 'is deleted',
    expected: 'delete',
  },
  {
    name: 'not ready and the provider fails',
    ready: 'False',
    providerID: 'ours',
    cloud: 'error',
    upstream: 'stays',
    expected: 'wait',
  },
  {
    name: 'not ready and still exists',
    ready: 'False',
    providerID: 'ours',
    cloud: 'running',
    upstream: 'stays',
    expected: 'wait',
  },
  {
    name: 'unknown and does not exist',
    ready: 'Unknown',
    providerID: 'ours',
    cloud: 'gone',
    upstream: 'is deleted',
    expected: 'delete',
  },
  {
    name: 'unknown and exists',
    ready: 'Unknown',
    providerID: 'ours',
    cloud: 'running',
    upstream: 'stays',
    expected: 'wait',
  },
  {
    name: 'ready, and the provider says that it is deleted',
    ready: 'True',
    providerID: 'ours',
    cloud: 'gone',
    upstream: 'stays',
    expected: 'nothing',
  },
  {
    name: 'not ready, shut down, exists',
    ready: 'False',
    providerID: 'ours',
    cloud: 'shutdown',
    upstream: 'is tainted',
    expected: 'add-shutdown-taint',
  },
  {
    name: 'no provider ID, not ready, shut down, exists',
    ready: 'False',
    providerID: 'none',
    cloud: 'shutdown',
    upstream: 'is tainted',
    expected: 'add-shutdown-taint',
  },
  {
    name: 'no provider ID, and the provider has none for its name',
    ready: 'False',
    providerID: 'none',
    cloud: 'gone',
    upstream: 'is deleted',
    expected: 'wait',
    why: needsProviderID,
  },
  {
    name: 'no provider ID, and the provider fails to say it',
    ready: 'False',
    providerID: 'none',
    cloud: 'error',
    upstream: 'stays',
    expected: 'wait',
  },
  {
    name: 'not ready, and whether it is shut down cannot be found out',
    ready: 'False',
    providerID: 'ours',
    cloud: 'error',
    upstream: 'stays',
    expected: 'wait',
  },
  {
    name: 'ready, and the provider says that it is shut down',
    ready: 'True',
    providerID: 'ours',
    cloud: 'shutdown',
    upstream: 'stays',
    expected: 'nothing',
  },
  {
    name: 'ready again, with the taint',
    ready: 'True',
    providerID: 'ours',
    tainted: true,
    cloud: 'running',
    upstream: 'loses the taint',
    expected: 'remove-shutdown-taint',
  },
  {
    name: 'tainted, and does not exist any more',
    ready: 'Unknown',
    providerID: 'ours',
    tainted: true,
    cloud: 'gone',
    upstream: 'is deleted',
    expected: 'delete',
  },
];
