/** The steps of docs/guides/migrate, in their order, each with what a cluster lacks for it. Pure. Entry point: `judgeCluster`. */
import { worst, type Check, type CheckState } from './check.ts';
import { judgeApiServer, judgeControllerManager, judgeIpam } from './judge-components.ts';
import { judgeBeside, judgeHandOver, judgeLeader, judgeOneFirst } from './judge-managers.ts';
import { judgeKubelets, judgeNodes } from './judge-nodes.ts';
import { judgeServices } from './judge-services.ts';
import { judgeVolumes } from './judge-volumes.ts';
import type { MigrationTarget, ObservedCluster } from './observed-cluster.ts';

/** One step of the guide. */
export interface MigrationStep {
  /** For `--steps`. */
  readonly name: string;
  readonly title: string;
  /** Heading in the guide under which it is described. */
  readonly heading: string;
  readonly judge: (cluster: ObservedCluster, target: MigrationTarget) => readonly Check[];
}

export const migrationSteps: readonly MigrationStep[] = [
  {
    name: 'kube-controller-manager',
    title: 'No cloud in kube-controller-manager',
    heading: 'In-tree providers',
    judge: judgeControllerManager,
  },
  { name: 'kube-apiserver', title: 'No cloud in kube-apiserver', heading: 'In-tree providers', judge: judgeApiServer },
  {
    name: 'volumes',
    title: 'In-tree volumes have their CSI driver',
    heading: 'In-tree providers',
    judge: judgeVolumes,
  },
  {
    name: 'kubelets',
    title: 'Kubelets leave their nodes to the cloud-controller-manager',
    heading: 'In-tree providers',
    judge: judgeKubelets,
  },
  { name: 'nodes', title: 'Nodes are initialised', heading: '1. See what is there', judge: judgeNodes },
  {
    name: 'services',
    title: 'Services are served, and at rest',
    heading: '1. See what is there',
    judge: judgeServices,
  },
  { name: 'leader', title: 'Somebody leads', heading: '1. See what is there', judge: judgeLeader },
  {
    name: 'beside',
    title: 'Outrigger can wait beside the other manager',
    heading: '2. Start Outrigger beside the other manager',
    judge: judgeBeside,
  },
  {
    name: 'hand-over',
    title: 'Outrigger leads, and the other manager is gone',
    heading: '3. End the other manager',
    judge: judgeHandOver,
  },
  { name: 'one-first', title: 'Leader migration', heading: 'One controller first', judge: judgeOneFirst },
  {
    name: 'node-ipam',
    title: 'One gives out pod CIDRs',
    heading: 'Node IPAM of kube-controller-manager',
    judge: judgeIpam,
  },
];

export interface JudgedStep {
  readonly step: string;
  readonly title: string;
  readonly state: CheckState;
  readonly checks: readonly Check[];
}

/** All steps, or those that are named. */
export function judgeCluster(
  cluster: ObservedCluster,
  target: MigrationTarget,
  names: readonly string[] = [],
): readonly JudgedStep[] {
  const chosen = migrationSteps.filter(({ name }) => names.length === 0 || names.includes(name));
  return chosen.map(({ judge, name, title }) => {
    const checks = judge(cluster, target);
    return { step: name, title, state: worst(checks.map(({ state }) => state)), checks };
  });
}
