/** Tags of the config on the instances of nodes. Entry point of this folder. */
import { asError, type CallContext, type NodeTags } from '@outrigger/cloud-provider';
import type { AwsSetup } from '../cluster/aws-setup.ts';
import { unknownIn } from '../instances/described-instances.ts';

/** Why an instance has not got its tags; `undefined`: it has. */
type ErrorOf = (id: string) => Error | undefined;

export function createAwsNodeTags({ client, config }: Pick<AwsSetup, 'client' | 'config'>): NodeTags {
  return {
    put: async (nodes, call) => {
      // Of those that lack tags it always ends so.
      const ids = nodes.map(({ providerID = '' }) => providerID.split('/').at(-1) ?? '');
      const errorOf = await tag(ids, call);
      return ids.map((id) => {
        const error = errorOf(id);
        return error ? { kind: 'failed', error } : { kind: 'done' };
      });
    },
  };

  /** One instance that EC2 does not know makes it refuse all; the others are tagged without it. */
  async function tag(ids: readonly string[], call: CallContext): Promise<ErrorOf> {
    const Tags = Object.entries(config().nodeTags).map(([Key, Value]) => ({ Key, Value }));
    try {
      await client.ec2(call, 'CreateTags', { Resources: ids, Tags });
      return () => undefined;
    } catch (thrown) {
      const error = asError(thrown);
      const unknown = unknownIn(error);
      const rest = ids.filter((id) => !unknown.has(id));
      if (rest.length === 0 || rest.length === ids.length) return () => error;
      const errorOf = await tag(rest, call);
      return (id) => (unknown.has(id) ? error : errorOf(id));
    }
  }
}
