/** Tags of things of ELBv2, 20 in a request. */
import { isCloudError, type CallContext } from '@outrigger/cloud-provider';
import type { AwsClient } from '../../client/aws-client.ts';
import { tagsIn, type Tags } from '../ownership.ts';

/** `DescribeTags` takes no more. */
const MOST = 20;

/** Of each that there is; what has gone since it was listed is left out. */
export async function readTags(
  client: Pick<AwsClient, 'elbv2'>,
  arns: readonly string[],
  call: CallContext,
): Promise<ReadonlyMap<string, Tags>> {
  const chunks = Array.from({ length: Math.ceil(arns.length / MOST) }, (_, i) => arns.slice(i * MOST, (i + 1) * MOST));
  const found = await Promise.all(chunks.map((chunk) => readChunk(client, chunk, call)));
  return new Map(found.flat());
}

/** One that is not there fails the request of all: each half is asked for by itself then. */
async function readChunk(
  client: Pick<AwsClient, 'elbv2'>,
  arns: readonly string[],
  call: CallContext,
): Promise<readonly (readonly [string, Tags])[]> {
  try {
    const { TagDescriptions = [] } = await client.elbv2(call, 'DescribeTags', { ResourceArns: arns });
    return TagDescriptions.map(({ ResourceArn = '', Tags: tags }) => [ResourceArn, tagsIn(tags)] as const);
  } catch (error) {
    if (!isCloudError(error, 'not-found')) throw error;
    if (arns.length === 1) return [];
    const half = Math.ceil(arns.length / 2);
    const halves = [arns.slice(0, half), arns.slice(half)];
    return (await Promise.all(halves.map((some) => readChunk(client, some, call)))).flat();
  }
}
