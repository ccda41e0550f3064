/** Tags of things of ELB, 20 in a request. */
import { isCloudError, type CallContext } from '@outrigger/cloud-provider';
import type { AwsClient } from '../../client/aws-client.ts';
import { chunks } from '../../client/pages.ts';
import { tagsIn, type Tags } from '../ownership.ts';

/** `DescribeTags` takes no more. */
const MOST = 20;

type Found = readonly (readonly [id: string, tags: Tags])[];

/** Of each thing of ELBv2 that there is; what has gone since it was listed is left out. */
export function readTags(
  client: Pick<AwsClient, 'elbv2'>,
  arns: readonly string[],
  call: CallContext,
): Promise<ReadonlyMap<string, Tags>> {
  return readInChunks(arns, async (ResourceArns) => {
    const { TagDescriptions = [] } = await client.elbv2(call, 'DescribeTags', { ResourceArns });
    return TagDescriptions.map(({ ResourceArn = '', Tags: tags }) => [ResourceArn, tagsIn(tags)]);
  });
}

/** The same of Classic Load Balancers, by name. */
export function readClassicTags(
  client: Pick<AwsClient, 'elb'>,
  names: readonly string[],
  call: CallContext,
): Promise<ReadonlyMap<string, Tags>> {
  return readInChunks(names, async (LoadBalancerNames) => {
    const { TagDescriptions = [] } = await client.elb(call, 'DescribeTags', { LoadBalancerNames });
    return TagDescriptions.map(({ LoadBalancerName = '', Tags: tags }) => [LoadBalancerName, tagsIn(tags)]);
  });
}

async function readInChunks(
  ids: readonly string[],
  ask: (ids: readonly string[]) => Promise<Found>,
): Promise<ReadonlyMap<string, Tags>> {
  return new Map((await Promise.all(chunks(ids, MOST).map((chunk) => readChunk(chunk, ask)))).flat());
}

/** One that is not there fails the request of all: each half is asked for by itself then. */
async function readChunk(ids: readonly string[], ask: (ids: readonly string[]) => Promise<Found>): Promise<Found> {
  try {
    return await ask(ids);
  } catch (error) {
    if (!isCloudError(error, 'not-found')) throw error;
    if (ids.length === 1) return [];
    const half = Math.ceil(ids.length / 2);
    return (await Promise.all([ids.slice(0, half), ids.slice(half)].map((some) => readChunk(some, ask)))).flat();
  }
}
