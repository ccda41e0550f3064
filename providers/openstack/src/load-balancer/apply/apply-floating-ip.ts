/** Carries out what is changed on floating IPs, and writes owners onto Neutron's parts. */
import { CloudError, isCloudError, type CallContext } from '@outrigger/cloud-provider';
import type { ApiClient, ApiRequest } from '../../client/api-client.ts';
import { matchFloatingSubnets } from '../desired/floating-subnets.ts';
import type { LearnedFacts } from '../learned-facts.ts';
import type { WireFloatingIP, WireSubnet } from '../neutron-wire.ts';
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
    await client.request(call, {
      service: 'network',
      operation: `DELETE /v2.0/${collection}/{id}`,
      method: 'DELETE',
      path: `/v2.0/${collection}/${encodeURIComponent(id)}`,
    });
  } catch (error) {
    if (!isCloudError(error, 'not-found')) throw error;
  }
}

export async function moveFloatingIP(
  client: ApiClient,
  { fixedIP, floatingIPId, portId }: ChangeOf<'move-floating-ip'>,
  call: CallContext,
): Promise<void> {
  await client.request(call, {
    service: 'network',
    operation: 'PUT /v2.0/floatingips/{id}',
    method: 'PUT',
    path: `/v2.0/floatingips/${encodeURIComponent(floatingIPId)}`,
    body: { floatingip: { port_id: portId, ...(fixedIP !== undefined && { fixed_ip_address: fixedIP }) } },
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
    service: 'network',
    operation: `PUT /v2.0/${collection}/{id}`,
    method: 'PUT',
    path: `/v2.0/${collection}/${encodeURIComponent(id)}`,
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
  call.logger.warn('Neutron does not take the tags that say whose a part is; its description says it', { id, error });
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

/** Returns its ID; `undefined` where there is no network to make one in. */
export async function createFloatingIP(
  client: ApiClient,
  change: ChangeOf<'create-floating-ip'>,
  facts: LearnedFacts,
  call: CallContext,
): Promise<string | undefined> {
  const { description, fixedIP, loadBalancerId, owner, portId, wish } = change;
  const networkId = wish.networkId ?? (await firstExternalNetwork(client, call));
  if (networkId === undefined) {
    facts.noteNoFloatingNetwork(loadBalancerId);
    return undefined;
  }
  const body = {
    floating_network_id: networkId,
    port_id: portId,
    ...(fixedIP !== undefined && { fixed_ip_address: fixedIP }),
    description,
  };
  const { id } =
    wish.kind === 'address'
      ? await post(client, { ...body, floating_ip_address: wish.address, ...subnetBody(wish.subnetId) }, call)
      : await postInOneOf(client, networkId, wish, body, call);
  await writeOwner(client, { collection: 'floatingips', id, owner }, facts, call);
  return id;
}

/** Of a subnet that is full, or not for this project. A quota is said in the same way, and then by each. */
const SUBNET_REFUSALS = ['conflict', 'invalid', 'quota'] as const;

const subnetBody = (subnetId: string | undefined): Readonly<Record<string, unknown>> =>
  subnetId === undefined ? {} : { subnet_id: subnetId };

/** Is the address refused in one subnet, the next is tried. */
async function postInOneOf(
  client: ApiClient,
  networkId: string,
  { subnets: wish }: Extract<ChangeOf<'create-floating-ip'>['wish'], { kind: 'any' }>,
  body: Readonly<Record<string, unknown>>,
  call: CallContext,
): Promise<WireFloatingIP> {
  // One that is named need not be seen: subnets of a network that is not shared are the administrator's.
  if (!wish || wish.subnetId !== undefined) return post(client, { ...body, ...subnetBody(wish?.subnetId) }, call);
  const subnets = await subnetsOf(client, networkId, call);
  const matching = matchFloatingSubnets(
    wish,
    subnets.map((one) => ({ ...one, tags: one.tags ?? [] })),
  );
  let last: Error | undefined;
  for (const { id } of matching) {
    try {
      return await post(client, { ...body, subnet_id: id }, call);
    } catch (error) {
      if (!SUBNET_REFUSALS.some((code) => isCloudError(error, code))) throw error;
      last = error as Error;
    }
  }
  const which = JSON.stringify(wish);
  const text =
    matching.length === 0
      ? `the network ${networkId} has no subnet that matches ${which}, or shows this project none because it is not shared; correct floating-subnet or -tags, or name floating-subnet-id`
      : `none of the ${matching.length} subnets of the network ${networkId} that match ${which} gave an address; the last said: ${last?.message}`;
  throw new CloudError(matching.length === 0 ? 'invalid' : 'quota', text, { cause: last });
}

async function post(
  client: ApiClient,
  floatingip: Readonly<Record<string, unknown>>,
  call: CallContext,
): Promise<WireFloatingIP> {
  const request: ApiRequest = {
    service: 'network',
    operation: 'POST /v2.0/floatingips',
    method: 'POST',
    path: '/v2.0/floatingips',
    body: { floatingip },
  };
  const answer = await client.request<{ floatingip: WireFloatingIP }>(call, request);
  return answer.floatingip;
}

/** As CPO chooses: the first that has a subnet. */
async function firstExternalNetwork(client: ApiClient, call: CallContext): Promise<string | undefined> {
  const networks = await client.list<{ readonly id: string; readonly subnets: readonly string[] }>(call, {
    service: 'network',
    operation: 'GET /v2.0/networks',
    path: '/v2.0/networks',
    query: [['router:external', 'true']],
    collection: 'networks',
  });
  return networks.find(({ subnets }) => subnets.length > 0)?.id;
}

function subnetsOf(client: ApiClient, networkId: string, call: CallContext): Promise<readonly WireSubnet[]> {
  return client.list<WireSubnet>(call, {
    service: 'network',
    operation: 'GET /v2.0/subnets',
    path: '/v2.0/subnets',
    query: [['network_id', networkId]],
    collection: 'subnets',
  });
}
