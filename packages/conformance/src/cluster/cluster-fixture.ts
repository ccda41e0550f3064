/**
 * What a user may give the suite so that it can try more: machines in the cluster's cloud, and looks into that cloud. Without it everything
 * goes by the Kubernetes API alone, and what needs a machine is `unverifiable`.
 */
import type { NodeAddress } from '@outrigger/kube';

/** A machine, and what the cloud knows of it. What is left out is not compared. */
export interface ClusterMachine {
  /** Of the Node that stands for it. */
  readonly nodeName: string;
  readonly providerID?: string;
  /** All of these must be among the Node's; both families, where it has both. */
  readonly addresses?: readonly NodeAddress[];
  /** `topology.kubernetes.io/zone`, `topology.kubernetes.io/region`, `node.kubernetes.io/instance-type` as they must be on the Node. */
  readonly labels?: Readonly<Record<string, string>>;
  /** `spec.podCIDRs` that the suite gives the Node, where nobody in the cluster allocates them. */
  readonly podCIDRs?: readonly string[];
}

export interface ServiceIdentity {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
}

/** Each call has `--timeout`, after which it counts as failed. Where one fails, the test is `unverifiable`. */
export interface ClusterFixture extends Partial<AsyncDisposable> {
  /**
   * Who makes the Node of a machine: a `kubelet` on it, started with `--cloud-provider=external`, or the `suite`, which makes a Node that no
   * kubelet stands behind. Default: `suite`.
   */
  readonly nodesFrom?: 'kubelet' | 'suite';
  /** Resolves when the cloud knows the machine. `name` is a DNS label of at most 40 characters. */
  makeMachine(name: string, signal: AbortSignal): Promise<ClusterMachine>;
  /** Also called for machines that are gone already; and, where `makeMachine` failed, with that `name` alone as the node's. */
  deleteMachine(machine: ClusterMachine, signal: AbortSignal): Promise<void>;
  /** Shuts it down and keeps it. */
  stopMachine?(machine: ClusterMachine, signal: AbortSignal): Promise<void>;
  startMachine?(machine: ClusterMachine, signal: AbortSignal): Promise<void>;
  /** From now on the cloud answers the manager with errors, until this is disposed of. */
  failCloud?(signal: AbortSignal): Promise<AsyncDisposable>;
  /** What there is in the cloud for this Service, whatever it is called there; empty when nothing is left. */
  loadBalancers?(service: ServiceIdentity, signal: AbortSignal): Promise<readonly string[]>;
  /** Names of the nodes to which the Service's load balancer sends. */
  backEnds?(service: ServiceIdentity, signal: AbortSignal): Promise<readonly string[]>;
  /** Destinations (CIDRs) of the cloud's routes to this machine. */
  routes?(machine: ClusterMachine, signal: AbortSignal): Promise<readonly string[]>;
}

export type ClusterHook = 'stopMachine' | 'startMachine' | 'failCloud' | 'loadBalancers' | 'backEnds' | 'routes';

const NEEDED = ['makeMachine', 'deleteMachine'] as const;

/** `exports` of the module that `--fixture` names: its `createClusterFixture` is called. Throws a `TypeError` when it is none. */
export async function openFixture(exports: unknown, named: string): Promise<ClusterFixture> {
  const { createClusterFixture } = exports as { readonly createClusterFixture?: unknown };
  if (typeof createClusterFixture !== 'function')
    throw new TypeError(`${named} has no function createClusterFixture: export one that gives a ClusterFixture`);
  const fixture = (await createClusterFixture()) as ClusterFixture;
  for (const member of NEEDED)
    if (typeof fixture?.[member] !== 'function')
      throw new TypeError(
        `createClusterFixture of ${named} returned no ${member}: a fixture makes and deletes machines`,
      );
  return fixture;
}
