/** Tags of load balancers, listeners and target groups. */
import type { Operations } from '../../src/client/generated/elbv2.ts';
import type { AwsAccount } from '../aws-account.ts';
import { refused } from '../aws-error.ts';
import { tagList } from '../ec2/describe.ts';
import type { Tags } from '../things.ts';

type Input<Name extends keyof Operations> = Operations[Name]['input'];

const MOST_TAGS = 50;
/** https://docs.aws.amazon.com/elasticloadbalancing/latest/APIReference/API_DescribeTags.html */
const MOST_ARNS = 20;

export const elbTagOperations = {
  DescribeTags: ({ ResourceArns: arns }: Input<'DescribeTags'>, account: AwsAccount): object => {
    if (arns.length > MOST_ARNS) {
      throw refused(
        'ValidationError',
        `1 validation error detected: at most ${MOST_ARNS} resources can be described, not ${arns.length}`,
      );
    }
    return {
      TagDescriptions: arns.map((arn) => ({ ResourceArn: arn, Tags: tagList(thingOf(account, arn, 'seen').tags) })),
    };
  },

  AddTags: ({ ResourceArns: arns, Tags: tags }: Input<'AddTags'>, account: AwsAccount): object => {
    // Whatever the name of the parameter says.
    if (arns.length !== 1) throw refused('ValidationError', 'Only one resource can be tagged at a time');
    for (const arn of arns) write(account, arn, (old) => checkedTags({ ...old, ...tagsOf(tags) }));
    return {};
  },

  RemoveTags: ({ ResourceArns: arns, TagKeys: keys }: Input<'RemoveTags'>, account: AwsAccount): object => {
    for (const arn of arns) {
      write(account, arn, (old) => Object.fromEntries(Object.entries(old).filter(([key]) => !keys.includes(key))));
    }
    return {};
  },
};

export function tagsOf(tags: readonly { readonly Key: string; readonly Value?: string }[] = []): Tags {
  const all = Object.fromEntries(tags.map(({ Key: key, Value: value = '' }) => [key, value]));
  if (Object.keys(all).length < tags.length)
    throw refused('DuplicateTagKeys', 'A tag key was specified more than once');
  return checkedTags(all);
}

function checkedTags(tags: Tags): Tags {
  if (Object.keys(tags).length > MOST_TAGS) throw refused('TooManyTags', `The limit of ${MOST_TAGS} tags is exceeded`);
  if (Object.keys(tags).some((key) => key.startsWith('aws:')))
    throw refused('ValidationError', 'Tag keys may not begin with aws:');
  return tags;
}

function thingOf(account: AwsAccount, arn: string, how: 'get' | 'seen'): { readonly tags: Tags } {
  const kind = /:(?<kind>loadbalancer|listener|targetgroup)\//u.exec(arn)?.groups?.['kind'];
  const store =
    kind === 'listener' ? account.listeners : kind === 'targetgroup' ? account.targetGroups : account.balancers;
  const thing = how === 'seen' || account.knobs.writesLag ? store.seen(arn) : store.get(arn);
  if (thing) return thing;
  const code =
    kind === 'listener' ? 'ListenerNotFound' : kind === 'targetgroup' ? 'TargetGroupNotFound' : 'LoadBalancerNotFound';
  throw refused(code, `One or more resources not found: '${arn}'`);
}

function write(account: AwsAccount, arn: string, next: (old: Tags) => Tags): void {
  const tags = next(thingOf(account, arn, 'get').tags);
  const balancer = account.balancers.get(arn);
  const listener = account.listeners.get(arn);
  const group = account.targetGroups.get(arn);
  if (balancer) account.balancers.put({ ...balancer, tags });
  if (listener) account.listeners.put({ ...listener, tags });
  if (group) account.targetGroups.put({ ...group, tags });
}
