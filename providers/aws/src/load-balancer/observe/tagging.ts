/** Tags of the things of one kind: read and written by one of AWS' APIs, with what this process has written laid over what AWS shows. */
import type { CallContext, Owner } from '@outrigger/cloud-provider';
import type { AwsClient } from '../../client/aws-client.ts';
import { ownerTags, tagChanges, tagList, type Tags } from '../ownership.ts';
import { readTags } from './read-tags.ts';
import type { RecentChanges } from './recent-changes.ts';

export interface TagCalls {
  /** `undefined`: AWS does not know the thing. */
  readonly read: (id: string, call: CallContext) => Promise<Tags | undefined>;
  readonly set: (id: string, tags: ReturnType<typeof tagList>, call: CallContext) => Promise<unknown>;
  readonly remove: (id: string, keys: readonly string[], call: CallContext) => Promise<unknown>;
}

export class Tagging {
  readonly #calls: TagCalls;
  readonly #recent: Pick<RecentChanges<unknown>, 'tagged' | 'tagsOf'>;

  constructor(calls: TagCalls, recent: Pick<RecentChanges<unknown>, 'tagged' | 'tagsOf'>) {
    this.#calls = calls;
    this.#recent = recent;
  }

  async of(id: string, call: CallContext): Promise<Tags> {
    return this.#recent.tagsOf(id, (await this.#calls.read(id, call)) ?? {});
  }

  async set(id: string, tags: Tags, call: CallContext): Promise<void> {
    await this.#calls.set(id, tagList(tags), call);
    this.#recent.tagged(id, tags);
  }

  claim(id: string, owner: Owner, call: CallContext): Promise<void> {
    return this.set(id, ownerTags(owner), call);
  }

  /**
   * `additional`: what the Service asks for; of what it has asked for before, the rest goes. That first: the tag that names what was asked for is
   * among those that are set, and a process that dies in between would leave the rest unknown to all. `children`: IDs of what was made with the
   * same tags, and is read of nobody. It comes before the thing itself, by which it is known whether they have followed.
   */
  async follow(id: string, additional: Tags, call: CallContext, children: readonly string[] = []): Promise<void> {
    const { remove, set } = tagChanges(await this.of(id, call), additional);
    if (remove.length > 0) {
      for (const one of [...children, id]) await this.#calls.remove(one, remove, call);
      this.#recent.tagged(id, {}, remove);
    }
    if (Object.keys(set).length === 0) return;
    for (const one of children) await this.#calls.set(one, tagList(set), call);
    await this.set(id, set, call);
  }
}

/** Of load balancers and target groups, by ARN. */
export function elbv2Tagging(
  { elbv2 }: Pick<AwsClient, 'elbv2'>,
  recent: ConstructorParameters<typeof Tagging>[1],
): Tagging {
  const calls: TagCalls = {
    read: async (id, call) => (await readTags({ elbv2 }, [id], call)).get(id),
    set: (id, Tags, call) => elbv2(call, 'AddTags', { ResourceArns: [id], Tags }),
    remove: (id, TagKeys, call) => elbv2(call, 'RemoveTags', { ResourceArns: [id], TagKeys }),
  };
  return new Tagging(calls, recent);
}
