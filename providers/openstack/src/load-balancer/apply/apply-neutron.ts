/** Carries out what is changed of floating IPs, security groups and their rules, and writes owners onto them. */
import { CloudError, isCloudError, type CallContext } from '@outrigger/cloud-provider';
import type { ApiClient } from '../../client/api-client.ts';
import { operation } from '../../client/operation.ts';
import type { LearnedFacts } from '../learned-facts.ts';
import { isNeutronOwnerTag, neutronTags } from '../ownership.ts';
import type { ChangeOf, PlannedRequest } from '../plan/change.ts';

/** What to delete and is not found is done, and so is what to create and is there already (409): a rule. */
export async function sendNeutron(
  client: ApiClient,
  { request }: ChangeOf<'neutron'>,
  call: CallContext,
): Promise<void> {
  const done = { DELETE: 'not-found', POST: 'conflict' } as const;
  try {
    await client.request(call, request);
  } catch (error) {
    const { method } = request;
    if ((method !== 'DELETE' && method !== 'POST') || !isCloudError(error, done[method])) throw error;
  }
}

/** The description first, which says it for sure; the tags say it once more. Without an owner the tags must say nothing either. */
export async function writeMark(
  client: ApiClient,
  change: ChangeOf<'mark'>,
  facts: LearnedFacts,
  call: CallContext,
): Promise<void> {
  await client.request(call, change.request);
  await writeOwner(client, change, facts, call);
}

type Owned = Pick<ChangeOf<'mark'>, 'collection' | 'id' | 'owner'>;

/** Of what was just made with its description, nothing but the tags is missing. */
async function writeOwner(client: ApiClient, owned: Owned, facts: LearnedFacts, call: CallContext): Promise<void> {
  try {
    await putTags(client, owned, call);
  } catch (error) {
    if (!owned.owner || !TAG_REFUSALS.some((code) => isCloudError(error, code))) throw error;
    noteWithoutTags(owned.id, error, facts, call);
  }
}

/** Says the owner once more. The description says it for sure, so nothing waits for it: it is tried again after a while. */
export async function writeNeutronTags(
  client: ApiClient,
  change: ChangeOf<'neutron-tags'>,
  facts: LearnedFacts,
  call: CallContext,
): Promise<void> {
  try {
    await putTags(client, change, call);
    facts.noteTriedTags(change.id);
  } catch (error) {
    if (call.signal.aborted) throw error;
    noteWithoutTags(change.id, error, facts, call);
  }
}

const TAG_REFUSALS = ['forbidden', 'invalid', 'quota'] as const;

function noteWithoutTags(id: string, error: unknown, facts: LearnedFacts, call: CallContext): void {
  facts.noteTriedTags(id);
  call.logger.warn('Neutron refused the tags with the owner; the description still names the owner', { id, error });
}

/** Read right before, so that others' tags stay. */
async function putTags(client: ApiClient, { collection, id, owner }: Owned, call: CallContext): Promise<void> {
  const path = `/v2.0/${collection}/{id}/tags` as const;
  const { tags } = await client.request<{ tags: readonly string[] }>(call, operation('network', `GET ${path}`, id));
  const others = tags.filter((tag) => !isNeutronOwnerTag(tag));
  const body = { tags: [...others, ...(owner ? neutronTags(owner) : [])] };
  await client.request(call, { ...operation('network', `PUT ${path}`, id), body });
}

/** Of a subnet that is full, or not for this project. A quota is said in the same way, and then by each. */
const SUBNET_REFUSALS = ['conflict', 'invalid', 'quota'] as const;

/** Returns its ID. Is the address refused in one subnet, the next is tried. */
export async function createMarked(
  client: ApiClient,
  change: ChangeOf<'create-marked'>,
  facts: LearnedFacts,
  call: CallContext,
): Promise<string> {
  const id = await postInTurn(client, change, call);
  await writeOwner(client, { collection: change.collection, id, owner: change.owner }, facts, call);
  return id;
}

async function postInTurn(
  client: ApiClient,
  { among, otherwise = [], request }: ChangeOf<'create-marked'>,
  call: CallContext,
): Promise<string> {
  let last: unknown;
  for (const one of [request, ...otherwise]) {
    try {
      return await post(client, one, call);
    } catch (error) {
      if (among === undefined || !SUBNET_REFUSALS.some((code) => isCloudError(error, code))) throw error;
      last = error;
    }
  }
  const text = `none of ${among} has a free address; the last refusal: ${last instanceof Error ? last.message : ''}`;
  throw new CloudError('quota', text, { cause: last });
}

/** The answer has what was made under the one key that the request has it under. */
async function post(client: ApiClient, request: PlannedRequest, call: CallContext): Promise<string> {
  const answer = await client.request<Readonly<Record<string, { readonly id: string }>>>(call, request);
  const [made] = Object.keys(request.body ?? {}).map((key) => answer[key]);
  if (!made) throw new CloudError('unavailable', `${request.operation}: the answer names nothing`);
  return made.id;
}
