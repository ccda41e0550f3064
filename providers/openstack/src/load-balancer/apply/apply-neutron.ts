/** Carries out what is changed of floating IPs, security groups and their rules, and writes owners onto them. */
import { CloudError, isCloudError, type CallContext } from '@outrigger/cloud-provider';
import { isHttpError } from '@outrigger/provider-kit';
import type { ApiClient } from '../../client/api-client.ts';
import { operation } from '../../client/operation.ts';
import { readIfThere, readOne } from '../../client/read-one.ts';
import type { LearnedFacts } from '../learned-facts.ts';
import type { WireFloatingIP } from '../neutron-wire.ts';
import { isNeutronOwnerTag, neutronTags } from '../ownership.ts';
import type { ChangeOf, PlannedRequest } from '../plan/change.ts';
import { IdLookUps } from './look-up-ids.ts';

/** What to delete and is not found is done, and so is what to create and is there already (409): a rule. */
export async function sendNeutron(
  client: ApiClient,
  { request }: Pick<ChangeOf<'neutron'>, 'request'>,
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

/**
 * What has changed since it was read is left for the next look: another may have it now. Neutron also answers 412 where an earlier request was
 * done whose answer was lost; and with OVN it may after it has moved the address, as its own later write of the status is checked against our revision too.
 */
export async function changeFloatingIP(
  client: ApiClient,
  { id, portId, request }: ChangeOf<'floating-ip'>,
  call: CallContext,
): Promise<void> {
  try {
    await sendNeutron(client, { request }, call);
  } catch (error) {
    if (!isHttpError(error, 412)) throw error;
    const there = await readIfThere<WireFloatingIP>(client, ['network', '/v2.0/floatingips'], id, call);
    // As it was to be: on that port, on none, or gone.
    if (there?.port_id === portId) return;
    if (!there || there.revision_number === request.revision) throw error;
    const text = `the floating IP ${there.floating_ip_address} has changed since it was read; it is read again`;
    throw new CloudError('retry-after', text, { cause: error, effect: 'none', retryAfterMs: 1_000 });
  }
}

/** The description says it for sure, and says more than the tags, which say it once more: so it is written first, and cleared last. */
export async function writeMark(
  client: ApiClient,
  change: ChangeOf<'mark'>,
  facts: LearnedFacts,
  call: CallContext,
): Promise<void> {
  if (!change.owner) await putTags(client, change, call);
  await client.request(call, change.request);
  if (change.owner) await writeOwner(client, change, facts, call);
}

interface Owned extends Pick<ChangeOf<'mark'>, 'collection' | 'id' | 'owner'> {
  /** The tags that there are. Default: they are read right before, so that others' stay. */
  readonly tags?: readonly string[] | undefined;
}

/** Of what was just made with its description, nothing but the tags is missing. */
async function writeOwner(client: ApiClient, owned: Owned, facts: LearnedFacts, call: CallContext): Promise<void> {
  try {
    await putTags(client, owned, call);
  } catch (error) {
    if (!TAG_REFUSALS.some((code) => isCloudError(error, code))) throw error;
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

async function putTags(client: ApiClient, owned: Owned, call: CallContext): Promise<void> {
  const { collection, id, owner, tags = await readTags(client, owned, call) } = owned;
  const others = tags.filter((tag) => !isNeutronOwnerTag(tag));
  // A Neutron that takes no tags has none to clear.
  if (!owner && others.length === tags.length) return;
  const body = { tags: [...others, ...(owner ? neutronTags(owner) : [])] };
  await client.request(call, { ...operation('network', `PUT /v2.0/${collection}/{id}/tags`, id), body });
}

async function readTags(client: ApiClient, { collection, id }: Owned, call: CallContext): Promise<readonly string[]> {
  const path = `/v2.0/${collection}` as const;
  return (await readOne<{ readonly tags?: readonly string[] }>(client, ['network', path], id, call)).tags ?? [];
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
  const { collection, owner } = change;
  const { id, tags } = await postInTurn(client, change, call);
  await writeOwner(client, { collection, id, owner, tags }, facts, call);
  return id;
}

/** `tags`: of an answer that says nothing of them they are read. */
interface Made {
  readonly id: string;
  readonly tags?: readonly string[];
}

async function postInTurn(
  client: ApiClient,
  { among, otherwise = [], request }: ChangeOf<'create-marked'>,
  call: CallContext,
): Promise<Made> {
  let last: unknown;
  const ids = new IdLookUps(client, call);
  for (const one of [request, ...otherwise]) {
    try {
      return await post(client, await ids.fill(one), call);
    } catch (error) {
      if (among === undefined || !SUBNET_REFUSALS.some((code) => isCloudError(error, code))) throw error;
      last = error;
    }
  }
  const text = `none of ${among} has a free address; the last refusal: ${last instanceof Error ? last.message : ''}`;
  throw new CloudError('quota', text, { cause: last });
}

/** The answer has what was made under the one key that the request has it under. */
async function post(client: ApiClient, request: PlannedRequest, call: CallContext): Promise<Made> {
  const answer = await client.request<Readonly<Record<string, Made>>>(call, request);
  const [made] = Object.keys(request.body ?? {}).map((key) => answer[key]);
  if (!made) throw new CloudError('unavailable', `${request.operation}: the answer names nothing`);
  return made;
}
