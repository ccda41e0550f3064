/** A classic load balancer by its name. */
import type { AwsAccount } from '../aws-account.ts';
import { refused } from '../aws-error.ts';
import type { ClassicLoadBalancer } from './classic-load-balancer.ts';

export function existingClassic(account: AwsAccount, name: string, how: 'get' | 'seen' = 'get'): ClassicLoadBalancer {
  const balancer = how === 'seen' || account.knobs.writesLag ? account.classics.seen(name) : account.classics.get(name);
  if (balancer) return balancer;
  throw refused('LoadBalancerNotFound', `There is no ACTIVE Load Balancer named '${name}'`);
}

export function changeBalancer(account: AwsAccount, name: string, change: Partial<ClassicLoadBalancer>): void {
  account.classics.put({ ...existingClassic(account, name), ...change });
}
