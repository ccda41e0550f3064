/** Carries out what is changed on floating IPs, and writes owners onto Neutron's parts. */
import { CloudError, isCloudError, type CallContext } from '@outrigger/cloud-provider';
import type { ApiClient } from '../../client/api-client.ts';
import { operation } from '../../client/operation.ts';
import type { LearnedFacts } from '../learned-facts.ts';
import type { WireFloatingIP } from '../neutron-wire.ts';
import { isNeutronOwnerTag, neutronTags } from '../ownership.ts';
import type { Change } from '../plan/change.ts';

type ChangeOf<Op extends Change['op']> = Extract<Change, { op: Op }>;

/** Not found is done. */
export async function deleteNeutronPart(
  client: ApiClient,
  collection: 'floatingips' | 'security-groups' | 'security-group-rules',
  id: string,
  call: CallContext,
): Promise<void> {
  try {
    await client.request(call, operation('network', `DELETE /v2.0/${collection}/{id}`, id));
  } catch (error) {
    if (!isCloudError(error, 'not-found')) throw error;
  }
}

export async function moveFloatingIP(
  client: ApiClient,
  { body, floatingIPId }: ChangeOf<'move-floating-ip'>,
  call: CallContext,
): Promise<void> {
  await client.request(call, {
    ...operation('network', 'PUT /v2.0/floatingips/{id}', floatingIPId),
    body: { floatingip: body },
  });
}

/** The description first, which says it for sure; the tags say it once more. Without an owner the tags must say nothing either. */
export async function writeMark(
  client: ApiClient,
  { collection, description, id, owner }: ChangeOf<'mark'>,
  facts: LearnedFacts,
  call: CallContext,
): Promise<void> {
  const singular = collection === 'floatingips' ? 'floatingip' : 'security_group';
  await client.request(call, {
    ...operation('network', `PUT /v2.0/${collection}/{id}`, id),
    body: { [singular]: { description } },
  });
  await writeOwner(client, { collection, id, owner }, facts, call);
}

/** Of what was just made with its description, nothing but the tags is missing. */
export async function writeOwner(
  client: ApiClient,
  { collection, id, owner }: Pick<ChangeOf<'mark'>, 'collection' | 'id' | 'owner'>,
  facts: LearnedFacts,
  call: CallContext,
): Promise<void> {
  try {
    await putTags(client, { collection, id, owner }, call);
  } catch (error) {
    if (!owner || !TAG_REFUSALS.some((code) => isCloudError(error, code))) throw error;
    noteWithoutTags(id, error, facts, call);
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
async function putTags(
  client: ApiClient,
  { collection, id, owner }: Pick<ChangeOf<'mark'>, 'collection' | 'id' | 'owner'>,
  call: CallContext,
): Promise<void> {
  const service = 'network';
  const path = `/v2.0/${collection}/${encodeURIComponent(id)}/tags`;
  const operation = `/v2.0/${collection}/{id}/tags`;
  const { tags } = await client.request<{ tags: readonly string[] }>(call, {
    service,
    operation: `GET ${operation}`,
    method: 'GET',
    path,
  });
  const others = tags.filter((tag) => !isNeutronOwnerTag(tag));
  const body = { tags: [...others, ...(owner ? neutronTags(owner) : [])] };
  await client.request(call, { service, operation: `PUT ${operation}`, method: 'PUT', path, body });
}

/** Of a subnet that is full, or not for this project. A quota is said in the same way, and then by each. */
const SUBNET_REFUSALS = ['conflict', 'invalid', 'quota'] as const;

/** Returns its ID. Is the address refused in one subnet, the next is tried. */
export async function createFloatingIP(
  client: ApiClient,
  change: ChangeOf<'create-floating-ip'>,
  facts: LearnedFacts,
  call: CallContext,
): Promise<string> {
  const id = await postInTurn(client, change, call);
  await writeOwner(client, { collection: 'floatingips', id, owner: change.owner }, facts, call);
  return id;
}

async function postInTurn(
  client: ApiClient,
  { among, bodies }: Pick<ChangeOf<'create-floating-ip'>, 'among' | 'bodies'>,
  call: CallContext,
): Promise<string> {
  let last: unknown;
  for (const floatingip of bodies) {
    try {
      return await post(client, floatingip, call);
    } catch (error) {
      if (among === undefined || !SUBNET_REFUSALS.some((code) => isCloudError(error, code))) throw error;
      last = error;
    }
  }
  const text = `none of ${among} has a free address; the last refusal: ${last instanceof Error ? last.message : ''}`;
  throw new CloudError('quota', text, { cause: last });
}

async function post(
  client: ApiClient,
  floatingip: Readonly<Record<string, unknown>>,
  call: CallContext,
): Promise<string> {
  const answer = await client.request<{ floatingip: WireFloatingIP }>(call, {
    ...operation('network', 'POST /v2.0/floatingips'),
    body: { floatingip },
  });
  return answer.floatingip.id;
}
