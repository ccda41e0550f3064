/** One look at the API of Classic Load Balancers: a list of all, and the tags of those that may be this cluster's. */
import { isCloudError, type CallContext, type Clock, type LoadBalancerService } from '@outrigger/cloud-provider';
import type { AwsClient } from '../../client/aws-client.ts';
import type { LoadBalancerDescription } from '../../client/generated/elb.ts';
import { pages } from '../../client/pages.ts';
import { isLoadBalancerName, loadBalancerName } from '../names.ts';
import { RecentChanges, type Tagged } from '../observe/recent-changes.ts';
import { isOfOthers, tagsIn, type Tags } from '../ownership.ts';

const PAGE = 400;
/** `DescribeTags` takes no more. */
const MOST = 20;

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
    const tags = await this.tags(listed.map(nameOf), call);
    const seen = listed.flatMap((thing): readonly ClassicThing[] => {
      const name = nameOf(thing);
      const found = tags.get(name);
      if (!found || isOfOthers(found) || this.recent.wasDeleted(name)) return [];
      return [{ thing, tags: this.recent.tagsOf(name, found) }];
    });
    const young = this.recent.missing(new Set(tags.keys())).filter(([name]) => isCandidate(name));
    return [...seen, ...young.map(([, made]) => ({ ...made, isYoung: true }))];
  }

  /** Of each that there is. */
  async tags(names: readonly string[], call: CallContext): Promise<ReadonlyMap<string, Tags>> {
    const count = Math.ceil(names.length / MOST);
    const chunks = Array.from({ length: count }, (_, i) => names.slice(i * MOST, (i + 1) * MOST));
    const found = await Promise.all(chunks.map((chunk) => this.#tagsOf(chunk, call)));
    return new Map(found.flat());
  }

  /** One that has gone since the list fails the request of all: each half is asked for by itself then. */
  async #tagsOf(names: readonly string[], call: CallContext): Promise<readonly (readonly [string, Tags])[]> {
    try {
      const { TagDescriptions = [] } = await this.#client.elb(call, 'DescribeTags', { LoadBalancerNames: names });
      return TagDescriptions.map(({ LoadBalancerName = '', Tags: tags }) => [LoadBalancerName, tagsIn(tags)] as const);
    } catch (error) {
      if (!isCloudError(error, 'not-found')) throw error;
      if (names.length === 1) return [];
      const half = Math.ceil(names.length / 2);
      const halves = [names.slice(0, half), names.slice(half)];
      return (await Promise.all(halves.map((some) => this.#tagsOf(some, call)))).flat();
    }
  }
}
