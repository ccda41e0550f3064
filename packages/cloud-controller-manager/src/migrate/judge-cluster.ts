/** The steps of docs/guides/migrate, in their order, each with what a cluster lacks for it. Pure. Entry point: `judgeCluster`. */
import { worst, type Check, type CheckState } from './check.ts';
import { judgeBeside } from './judge-beside.ts';
import { judgeApiServer, judgeControllerManager, judgeIpam } from './judge-components.ts';
import { judgeHandOver, judgeLeader, judgeOneFirst } from './judge-managers.ts';
import { judgeKubelets, judgeNodes } from './judge-nodes.ts';
import { judgePlans } from './judge-plans.ts';
import { judgeServices } from './judge-services.ts';
import { judgeVolumes } from './judge-volumes.ts';
import type { MigrationTarget, ObservedCluster, Readable, Seen } from './observed-cluster.ts';

/** One step of the guide. */
export interface MigrationStep {
  /** For `--steps`. */
  readonly name: string;
  readonly title: string;
  /** Heading in the guide under which it is described. */
  readonly heading: string;
  /** All that it is judged by. */
  readonly reads: readonly Readable[];
  readonly judge: (cluster: ObservedCluster, target: MigrationTarget) => readonly Check[];
}

/** A step that is judged by what is not in `reads` does not compile. */
function step<R extends Readable>(
  one: Omit<MigrationStep, 'judge' | 'reads'> & {
    readonly reads: readonly R[];
    readonly judge: (cluster: Seen<NoInfer<R>>, target: MigrationTarget) => readonly Check[];
  },
): MigrationStep {
  return one;
}

/** The step that asks the cloud. */
export const PLANS = 'load-balancers';

export const migrationSteps: readonly MigrationStep[] = [
  step({
    name: 'kube-controller-manager',
    title: 'kube-controller-manager runs without a cloud provider',
    heading: 'In-tree providers',
    reads: ['leases', 'programs'],
    judge: judgeControllerManager,
  }),
  step({
    name: 'kube-apiserver',
    title: 'kube-apiserver runs without a cloud provider',
    heading: 'In-tree providers',
    reads: ['apiServerFlags', 'leases', 'programs'],
    judge: judgeApiServer,
  }),
  step({
    name: 'volumes',
    title: 'In-tree volumes have their CSI driver',
    heading: 'In-tree providers',
    reads: ['csiNodes', 'nodes', 'volumes'],
    judge: judgeVolumes,
  }),
  step({
    name: 'kubelets',
    title: 'Kubelets leave their nodes to the cloud-controller-manager',
    heading: 'In-tree providers',
    reads: ['kubelets', 'nodes'],
    judge: judgeKubelets,
  }),
  step({
    name: 'nodes',
    title: 'Nodes are initialized',
    heading: '1. See what is there',
    reads: ['nodes'],
    judge: judgeNodes,
  }),
  step({
    name: 'services',
    title: 'Services have their load balancers, and none is being changed',
    heading: '1. See what is there',
    reads: ['services'],
    judge: judgeServices,
  }),
  step({
    name: PLANS,
    title: 'What would happen to load balancers',
    heading: '1. See what is there',
    reads: ['nodes', 'plans', 'services'],
    judge: judgePlans,
  }),
  step({
    name: 'leader',
    title: 'A manager leads',
    heading: '1. See what is there',
    reads: ['leases'],
    judge: judgeLeader,
  }),
  step({
    name: 'beside',
    title: 'Outrigger can wait beside the other manager',
    heading: '2. Start Outrigger beside the other manager',
    reads: ['leases', 'programs'],
    judge: judgeBeside,
  }),
  step({
    name: 'hand-over',
    title: 'Outrigger leads, and the other manager is gone',
    heading: '3. End the other manager',
    reads: ['leases', 'programs'],
    judge: judgeHandOver,
  }),
  step({
    name: 'one-first',
    title: 'Leader migration',
    heading: 'One controller first',
    reads: ['leases', 'programs'],
    judge: judgeOneFirst,
  }),
  step({
    name: 'node-ipam',
    title: 'One manager allocates pod CIDRs',
    heading: 'Node IPAM of kube-controller-manager',
    reads: ['leases', 'programs'],
    judge: judgeIpam,
  }),
];

export interface JudgedStep {
  readonly step: string;
  readonly title: string;
  readonly state: CheckState;
  readonly checks: readonly Check[];
}

/** All steps, or those that are named. */
function chosenSteps(names: readonly string[]): readonly MigrationStep[] {
  return migrationSteps.filter(({ name }) => names.length === 0 || names.includes(name));
}

/** What these steps are judged by: nothing else need be read. Default: of all steps. */
export function readsOf(names: readonly string[] = []): ReadonlySet<Readable> {
  return new Set(chosenSteps(names).flatMap(({ reads }) => reads));
}

/** All steps, or those that are named. */
export function judgeCluster(
  cluster: ObservedCluster,
  target: MigrationTarget,
  names: readonly string[] = [],
): readonly JudgedStep[] {
  return chosenSteps(names).map(({ judge, name, title }) => {
    const checks = judge(cluster, target);
    return { step: name, title, state: worst(checks.map(({ state }) => state)), checks };
  });
}
