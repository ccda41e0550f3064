/** What clients and pods of an account go by, what of AWS' actions cut that, and what Outrigger leaves behind. Pure. */
import type { AccountState, GroupState, RuleState } from '../../providers/aws/lab/account-state.ts';

/** Which cut traffic, or would make a second one. */
const HARMFUL =
  /:(?:Delete|Deregister|Detach|Create(?:LoadBalancer|Listener|TargetGroup|Route$)|ModifyListener|ReplaceRoute|SetSubnets)/u;

/** Of what was asked for. */
export function harmful(calls: object): readonly string[] {
  return Object.keys(calls).filter((name) => HARMFUL.test(name));
}

/** Tags and rules of groups are others' business. */
export function trafficIn({ classicLoadBalancers, networkLoadBalancers, routes, targetGroups }: AccountState): object {
  return {
    routes,
    network: networkLoadBalancers.map(({ listeners, name, scheme, zones }) => ({
      name,
      scheme,
      zones,
      ports: listeners.map(({ port, protocol, targetGroup }) => [port, protocol, targetGroup]),
    })),
    targets: targetGroups.map(({ name, port, targets }) => ({ name, port, targets })),
    classic: classicLoadBalancers.map(({ healthCheck, instances, listeners, name }) => ({
      name,
      listeners,
      instances,
      healthCheck,
    })),
  };
}

/** What managers of others know nothing of. */
export interface LeftBehind {
  /** Names of security groups with Outrigger's tags, without what makes them unique, sorted. */
  readonly groups: readonly string[];
  /** By which groups of nodes let in the group that all Network Load Balancers share. */
  readonly rules: number;
  /** All else, without IDs of groups. */
  readonly rest: object;
}

export function leftIn({ securityGroups, ...rest }: AccountState): LeftBehind {
  const isOutriggers = ({ tags }: GroupState): boolean =>
    Object.keys(tags).some((key) => key.startsWith('outrigger.dev/'));
  const isOfShared = ({ description }: RuleState): boolean =>
    description?.startsWith('load balancers of Kubernetes ') === true;
  return {
    groups: securityGroups
      .filter(isOutriggers)
      .map(({ name }) => name.replace(/-[^-]*$/u, ''))
      .toSorted(),
    rules: securityGroups.flatMap(({ ingress }) => ingress.filter(isOfShared)).length,
    rest: {
      ...rest,
      groups: securityGroups
        .filter((one) => !isOutriggers(one))
        .map((one) => ({ ...one, id: '', ingress: one.ingress.filter((rule) => !isOfShared(rule)) })),
    },
  };
}
