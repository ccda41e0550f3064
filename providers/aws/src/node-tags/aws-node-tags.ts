/** Tags of the config on the instances of nodes. Entry point of this folder. */
import { asError, CloudError, type CallContext, type NodeRef, type NodeTags } from '@outrigger/cloud-provider';
import type { AwsSetup } from '../cluster/aws-setup.ts';
import { askedInstance } from '../instances/asked-instance.ts';
import { unknownIn } from '../instances/described-instances.ts';

/** Why an instance has not got its tags; `undefined`: it has. */
type ErrorOf = (id: string) => Error | undefined;

export function createAwsNodeTags({
  client,
  config,
  name: providerName,
}: Pick<AwsSetup, 'client' | 'config' | 'name'>): NodeTags {
  return {
    put: async (nodes, call) => {
      const asked = nodes.map(idOf);
      const errorOf = await tag([...new Set(asked.filter((one) => typeof one === 'string'))], call);
      return asked.map((one) => {
        const error = typeof one === 'string' ? errorOf(one) : one;
        return error ? { kind: 'failed', error } : { kind: 'done' };
      });
    },
  };

  /** An ID that EC2 cannot read would make it refuse all of a request. */
  function idOf(node: NodeRef): string | Error {
    const asked = askedInstance(node, providerName);
    if (asked.by === 'id') return asked.id;
    if (asked.by === 'error') return asked.error;
    return new CloudError('invalid', `the provider ID of node ${node.name} names no instance that can be tagged`);
  }

  /** One instance that EC2 does not know makes it refuse all; the others are tagged without it. */
  async function tag(ids: readonly string[], call: CallContext): Promise<ErrorOf> {
    if (ids.length === 0) return () => undefined;
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
