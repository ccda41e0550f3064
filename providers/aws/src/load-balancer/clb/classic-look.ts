/** One look at the API of Classic Load Balancers: a list of all, and the tags of those that may be this cluster's. */
import type { CallContext, Clock, LoadBalancerService } from '@outrigger/cloud-provider';
import type { AwsClient } from '../../client/aws-client.ts';
import type { LoadBalancerDescription } from '../../client/generated/elb.ts';
import { pages } from '../../client/pages.ts';
import { isLoadBalancerName, loadBalancerName } from '../names.ts';
import { readClassicTags } from '../observe/read-tags.ts';
import { RecentChanges, type Tagged } from '../observe/recent-changes.ts';
import { isOfOthers } from '../ownership.ts';

const PAGE = 400;

export interface ClassicThing extends Tagged<LoadBalancerDescription> {
  /** AWS has answered its creation, and does not show it yet: nothing can be asked of it. */
  readonly isYoung?: boolean;
}

export const nameOf = ({ LoadBalancerName = '' }: LoadBalancerDescription): string => LoadBalancerName;

export class ClassicLook {
  readonly recent: RecentChanges<LoadBalancerDescription>;
  readonly #client: Pick<AwsClient, 'elb'>;

  constructor({ client, clock }: { readonly client: Pick<AwsClient, 'elb'>; readonly clock: Clock }) {
    this.#client = client;
    this.recent = new RecentChanges(clock);
  }

  /** Those that can be the Services'; without them, all of the cluster's and more. */
  async things(call: CallContext, services?: readonly LoadBalancerService[]): Promise<readonly ClassicThing[]> {
    const names = services?.flatMap(({ adopt = [], uid }) => [loadBalancerName(uid), ...adopt.map(({ id }) => id)]);
    const wanted = new Set(names);
    const isCandidate = (name: string): boolean => (names ? wanted.has(name) : isLoadBalancerName(name));
    const all = await pages(this.#client.elb, call, 'DescribeLoadBalancers', { PageSize: PAGE });
    const listed = all.filter((one) => isCandidate(nameOf(one)));
    const tags = await readClassicTags(this.#client, listed.map(nameOf), call);
    const seen = listed.flatMap((thing): readonly ClassicThing[] => {
      const name = nameOf(thing);
      const found = tags.get(name);
      if (!found || isOfOthers(found) || this.recent.wasDeleted(name)) return [];
      return [{ thing, tags: this.recent.tagsOf(name, found) }];
    });
    const young = this.recent.missing(new Set(tags.keys())).filter(([name]) => isCandidate(name));
    return [...seen, ...young.map(([, made]) => ({ ...made, isYoung: true }))];
  }
}
