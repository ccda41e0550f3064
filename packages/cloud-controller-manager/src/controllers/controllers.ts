/** The controllers of this program, and which of them the command line turns on. */
import { FlagError, selectControllers, type FlagGroup } from '@outrigger/controller-manager';
import {
  cloudIpamRules,
  kubeletServingApproverRules,
  nodeControllerRules,
  nodeIpamControllerRules,
  nodeLifecycleControllerRules,
  orphanControllerRules,
  pvLabelControllerRules,
  routeControllerRules,
  serviceControllerRules,
} from '@outrigger/controllers';
import type { CloudController } from './cloud-controller.ts';
import { buildIpamController, whyNoIpam } from './ipam-controller.ts';
import { buildKubeletServingApprover, KUBELET_SERVING_APPROVER } from './kubelet-serving-approver.ts';
import { buildNodeController } from './node-controller.ts';
import { IPAM_ALIAS, IPAM_CONTROLLER } from '../options/ipam-flags.ts';
import { buildNodeLifecycleController } from './node-lifecycle-controller.ts';
import { buildOrphanController, ORPHAN_CONTROLLER } from './orphan-controller.ts';
import { buildPvLabelController, PV_LABEL_CONTROLLER } from './pv-label-controller.ts';
import { buildRouteController, ROUTE_CONTROLLER, whyNoRoutes } from './route-controller.ts';
import { buildServiceController } from './service-controller.ts';

/**
 * Names and aliases are upstream's (k8s.io/cloud-provider `names`). Besides, `service-controller` and `route-controller`:
 * upstream's own default configuration of leader migration says so, and means nobody. Accounts are upstream's too.
 */
export const defaultControllers: readonly CloudController[] = [
  {
    name: 'cloud-node-controller',
    aliases: ['cloud-node'],
    account: 'node-controller',
    rules: nodeControllerRules,
    uses: ['instances', 'nodeTags'],
    build: buildNodeController,
  },
  {
    name: 'cloud-node-lifecycle-controller',
    aliases: ['cloud-node-lifecycle'],
    account: 'node-controller',
    rules: nodeLifecycleControllerRules,
    uses: ['instances'],
    build: buildNodeLifecycleController,
  },
  {
    name: 'service-lb-controller',
    aliases: ['service', 'service-controller'],
    account: 'service-controller',
    rules: serviceControllerRules,
    uses: ['loadBalancers'],
    build: buildServiceController,
  },
  {
    name: ROUTE_CONTROLLER,
    aliases: ['route', 'route-controller'],
    whyNot: whyNoRoutes,
    account: 'route-controller',
    rules: routeControllerRules,
    uses: ['routes'],
    build: buildRouteController,
  },
  {
    name: ORPHAN_CONTROLLER,
    aliases: ['orphans'],
    account: 'orphan-controller',
    rules: orphanControllerRules,
    uses: ['loadBalancers', 'routes'],
    build: buildOrphanController,
  },
  {
    name: IPAM_CONTROLLER,
    aliases: [IPAM_ALIAS],
    disabledByDefault: true,
    scope: 'cluster',
    whyNot: whyNoIpam,
    account: 'node-controller',
    rules: nodeIpamControllerRules,
    rulesWith: ({ ipam }) => (ipam.cidrAllocatorType === 'RangeAllocator' ? [] : cloudIpamRules),
    usesWith: ({ ipam }) => (ipam.cidrAllocatorType === 'RangeAllocator' ? [] : ['instances', 'podRanges']),
    build: buildIpamController,
  },
  {
    name: PV_LABEL_CONTROLLER,
    // What it was called while cloud-controller-managers had it, in Kubernetes 1.8 to 1.13.
    aliases: ['pvlabel'],
    disabledByDefault: true,
    rules: pvLabelControllerRules,
    uses: ['volumes'],
    build: buildPvLabelController,
  },
  {
    name: KUBELET_SERVING_APPROVER,
    aliases: ['kubelet-serving'],
    disabledByDefault: true,
    rules: kubeletServingApproverRules,
    uses: ['instances'],
    build: buildKubeletServingApprover,
  },
];

/** Throws a `FlagError` for a name that none of `known` has, and when nothing is left to run. */
export function chosenControllers(
  known: readonly CloudController[],
  selection: readonly string[],
): readonly CloudController[] {
  const chosen = selectControllers(known, selection);
  if (chosen.length === 0) throw new FlagError('invalid-flag', '--controllers turns every controller off');
  return chosen;
}

/** The flags of controllers, each group once, however many of them share it. */
export function controllerFlags(known: readonly CloudController[] = defaultControllers): readonly FlagGroup<object>[] {
  return [...new Set(known.flatMap(({ flags }) => flags ?? []))];
}
