/** Tags and attributes of a load balancer or a target group: the same requests for both. */
import type { CallContext } from '@outrigger/cloud-provider';
import { readTags } from '../observe/read-tags.ts';
import { SETTINGS_TAG, settingsHash, type Settings } from '../observe/settings-memory.ts';
import { tagChanges, tagList, type Tags } from '../ownership.ts';
import type { NlbSetup } from './nlb-setup.ts';

interface Target {
  readonly arn: string;
  readonly recent: {
    tagged(id: string, set: Tags, removed?: readonly string[]): void;
    tagsOf(id: string, listed: Tags): Tags;
  };
}

export async function writeTags(
  { client }: Pick<NlbSetup, 'client'>,
  { arn, recent }: Target,
  additional: Tags,
  call: CallContext,
): Promise<void> {
  const there = (await readTags(client, [arn], call)).get(arn) ?? {};
  const { remove, set } = tagChanges(recent.tagsOf(arn, there), additional);
  if (Object.keys(set).length > 0) {
    await client.elbv2(call, 'AddTags', { ResourceArns: [arn], Tags: tagList(set) });
    recent.tagged(arn, set);
  }
  if (remove.length > 0) {
    await client.elbv2(call, 'RemoveTags', { ResourceArns: [arn], TagKeys: remove });
    recent.tagged(arn, {}, remove);
  }
}

/** `write` comes first: a hash that stands there says that the attributes are so. */
export async function writeSettings(
  { client, settings: memory }: Pick<NlbSetup, 'client' | 'settings'>,
  { arn, recent }: Target,
  settings: Settings,
  write: (attributes: ReturnType<typeof tagList>) => Promise<unknown>,
  call: CallContext,
): Promise<void> {
  await write(tagList(settings));
  const set = { [SETTINGS_TAG]: settingsHash(settings) };
  await client.elbv2(call, 'AddTags', { ResourceArns: [arn], Tags: tagList(set) });
  recent.tagged(arn, set);
  memory.written(arn);
}
