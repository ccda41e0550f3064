/** Tags of whatever EC2 has. */
import type { Operations } from '../../src/client/generated/ec2.ts';
import type { AwsAccount } from '../aws-account.ts';
import { refused } from '../aws-error.ts';
import type { LaggedStore } from '../lagged-store.ts';
import type { Tags } from '../things.ts';

type Input<Name extends keyof Operations> = Operations[Name]['input'];
type Tagged = { readonly id: string; readonly tags: Tags };

/** https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/Using_Tags.html#tag-restrictions */
const MOST_TAGS = 50;

export const tagOperations = {
  CreateTags: ({ Resources: ids, Tags: tags }: Input<'CreateTags'>, account: AwsAccount): object => {
    change(account, ids, (old) => checked({ ...old, ...tagsOf(tags) }));
    return {};
  },

  DeleteTags: ({ Resources: ids, Tags: tags }: Input<'DeleteTags'>, account: AwsAccount): object => {
    // Without tags all go; with a value only the tag that has it (https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_DeleteTags.html).
    const goes = (key: string, value: string): boolean =>
      tags === undefined || tags.some((tag) => tag.Key === key && (tag.Value === undefined || tag.Value === value));
    change(account, ids, (old) => Object.fromEntries(Object.entries(old).filter(([key, value]) => !goes(key, value))));
    return {};
  },
};

/** Of the one type that an operation makes. */
export function specifiedTags(
  given: readonly { readonly ResourceType?: string; readonly Tags?: Parameters<typeof tagsOf>[0] }[] | undefined,
  type: string,
): Tags {
  const wrong = given?.find(({ ResourceType: each }) => each !== type);
  if (wrong)
    throw refused(
      'InvalidParameterValue',
      `'${wrong.ResourceType ?? ''}' is not a valid taggable resource type for this operation.`,
    );
  return checked(Object.assign({}, ...(given ?? []).map(({ Tags: tags }) => tagsOf(tags ?? []))) as Tags);
}

function tagsOf(tags: readonly { readonly Key?: string; readonly Value?: string }[]): Tags {
  return Object.fromEntries(tags.map(({ Key = '', Value = '' }) => [Key, Value]));
}

function checked(tags: Tags): Tags {
  for (const [key, value] of Object.entries(tags)) {
    if (key === '' || key.length > 128)
      throw refused('InvalidParameterValue', `Tag key exceeds the maximum length of 128 characters: ${key}`);
    if (value.length > 256)
      throw refused('InvalidParameterValue', `Tag value exceeds the maximum length of 256 characters: ${key}`);
    if (/^aws:/iu.test(key))
      throw refused('InvalidParameterValue', `Tag keys starting with 'aws:' are reserved for internal use`);
  }
  if (Object.keys(tags).length > MOST_TAGS)
    throw refused('TagLimitExceeded', `The maximum number of Tags for a resource has been reached.`);
  return tags;
}

/** All or nothing. */
function change(account: AwsAccount, ids: readonly string[], next: (old: Tags) => Tags): void {
  const writes = ids.map((id) => changeOf(account, id, next));
  for (const write of writes) write();
}

function changeOf(account: AwsAccount, id: string, next: (old: Tags) => Tags): () => void {
  const of = <T extends Tagged>(store: LaggedStore<T>, code: string): (() => void) => {
    const thing = account.knobs.writesLag ? store.seen(id) : store.get(id);
    if (!thing) throw refused(code, `The ID '${id}' does not exist`);
    const changed = { ...thing, tags: next(thing.tags) };
    return () => store.put(changed);
  };
  switch (id.slice(0, id.indexOf('-'))) {
    case 'i':
      return of(account.instances, 'InvalidInstanceID.NotFound');
    case 'eni':
      return of(account.interfaces, 'InvalidNetworkInterfaceID.NotFound');
    case 'sg':
      return of(account.groups, 'InvalidGroup.NotFound');
    case 'sgr':
      return of(account.rules, 'InvalidSecurityGroupRuleId.NotFound');
    case 'subnet':
      return of(account.subnets, 'InvalidSubnetID.NotFound');
    case 'vpc':
      return of(account.vpcs, 'InvalidVpcID.NotFound');
    case 'rtb':
      return of(account.routeTables, 'InvalidRouteTableID.NotFound');
    case 'vol':
      return of(account.volumes, 'InvalidVolume.NotFound');
    case 'eipalloc':
      return of(account.addresses, 'InvalidAllocationID.NotFound');
    default:
      throw refused('InvalidID', `The ID '${id}' is not valid`);
  }
}
