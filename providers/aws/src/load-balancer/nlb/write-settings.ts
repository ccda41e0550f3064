/** Tags and attributes of a load balancer or a target group: the same requests for both. */
import type { CallContext } from '@outrigger/cloud-provider';
import { SETTINGS_TAG, settingsHash, type Settings } from '../observe/settings-memory.ts';
import { tagChanges, tagList, type Tags } from '../ownership.ts';
import type { NlbSetup } from './nlb-setup.ts';

interface TagTarget {
  readonly arn: string;
  /** As the last look found them. */
  readonly tags: Tags;
  readonly recent: { tagged(id: string, set: Tags, removed?: readonly string[]): void };
}

export async function writeTags(
  { client }: Pick<NlbSetup, 'client'>,
  { arn, recent, tags }: TagTarget,
  additional: Tags,
  call: CallContext,
): Promise<void> {
  const { remove, set } = tagChanges(tags, additional);
  if (Object.keys(set).length > 0) {
    await client.elbv2(call, 'AddTags', { ResourceArns: [arn], Tags: tagList(set) });
    recent.tagged(arn, set);
  }
  if (remove.length > 0) {
    await client.elbv2(call, 'RemoveTags', { ResourceArns: [arn], TagKeys: remove });
    recent.tagged(arn, {}, remove);
  }
}

/** The attributes first: a hash that stands there says that they are so. */
export async function writeSettings(
  { client, settings: memory }: Pick<NlbSetup, 'client' | 'settings'>,
  { arn, recent }: Pick<TagTarget, 'arn' | 'recent'>,
  settings: Settings,
  write: (attributes: readonly { readonly Key: string; readonly Value: string }[]) => Promise<unknown>,
  call: CallContext,
): Promise<void> {
  await write(Object.entries(settings).map(([Key, Value]) => ({ Key, Value })));
  const set = { [SETTINGS_TAG]: settingsHash(settings) };
  await client.elbv2(call, 'AddTags', { ResourceArns: [arn], Tags: tagList(set) });
  recent.tagged(arn, set);
  memory.written(arn);
}
