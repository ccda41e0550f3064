/** Puts security groups onto ports, and takes them off. */
import { CloudError, isCloudError, type CallContext } from '@outrigger/cloud-provider';
import type { ApiClient } from '../../client/api-client.ts';
import { changePort } from '../../client/change-port.ts';
import { readOne } from '../../client/read-one.ts';
import { isUuid } from '../../uuid.ts';
import type { LearnedFacts } from '../learned-facts.ts';
import type { WirePort } from '../neutron-wire.ts';
import type { MemberWithoutGroup, WhyWithout } from '../observed-tree.ts';
import type { ChangeOf, MemberAddress } from '../plan/change.ts';
import type { PortTurns } from './port-turns.ts';
import { portOf, portsByAddress } from './ports-by-address.ts';
import { isCalled, namesOfServer } from './server-names.ts';

interface AttachingHands {
  readonly facts: LearnedFacts;
  readonly turns: PortTurns;
}

/**
 * Onto the ports of the members' servers that have the members' addresses, where they have port security. Each by itself: what fails
 * keeps the group from no other's port, and is tried again.
 */
export async function attachSecurityGroup(
  client: ApiClient,
  { groupId, isServed, members }: ChangeOf<'attach-security-group'>,
  { facts, turns }: AttachingHands,
  call: CallContext,
): Promise<void> {
  const ports = await portsByAddress(
    client,
    members.map(({ address }) => address),
    call,
  );
  const secured = ports.filter((one) => one.port_security_enabled !== false);
  const withGroup = (groups: readonly string[]): readonly string[] => [
    ...groups.filter((id) => id !== groupId),
    groupId,
  ];
  const namesOf = serverNames(client, facts, call);
  const unanswered = new Set<string>();
  const attach = async (member: MemberAddress): Promise<WhyWithout | undefined> => {
    // Where no server is known, among all of them: the one without port security may be the node's, and the other a stranger's.
    const port = portOf(member.providerID === undefined ? ports : secured, member);
    if (!port || port.port_security_enabled === false) return 'no-port';
    try {
      const why = await whyNotOf(port, member.nodeName, namesOf, call);
      if (why) return why;
    } catch (error) {
      if (isNoAnswer(error)) unanswered.add(member.address);
      throw error;
    }
    await turns.take(port.id, call.signal, async (waited) => {
      const current = waited ? await readOne<WirePort>(client, ['network', '/v2.0/ports'], port.id, call) : port;
      await changeGroups(client, current, withGroup, call);
    });
    return undefined;
  };
  const outcomes = await Promise.allSettled(members.map(attach));
  const lets = (one: (typeof outcomes)[number]): boolean => one.status === 'fulfilled' && one.value === undefined;
  const othersServe = isServed || outcomes.some(lets);
  const failures: unknown[] = [];
  const without = members.flatMap(({ address }, i): readonly MemberWithoutGroup[] => {
    const outcome = outcomes[i];
    if (outcome?.status === 'fulfilled') return outcome.value === undefined ? [] : [{ address, why: outcome.value }];
    // It was closed before, and the Service is served as it was then.
    if (othersServe && unanswered.has(address) && facts.wasClosed(groupId, address))
      return [{ address, why: 'unnamed' }];
    failures.push(outcome?.reason);
    return [{ address, why: 'failed' }];
  });
  facts.noteWithoutGroup(groupId, without);
  if (failures.length > 0) throw failures[0];
}

const NO_ANSWER = ['unavailable', 'timeout', 'throttled'] as const;
const isNoAnswer = (error: unknown): boolean => NO_ANSWER.some((code) => isCloudError(error, code));

/**
 * Unless nova calls the port's server as the node is called. The provider ID of a node, and the addresses of one that has none of nova's, are
 * what its kubelet says: by them alone, any server's port of the project could be opened. Its name no kubelet chooses (NodeRestriction).
 */
async function whyNotOf(
  { device_id: id }: WirePort,
  nodeName: string | undefined,
  namesOf: (id: string, nodeName: string) => ReturnType<typeof namesOfServer>,
  { logger }: CallContext,
): Promise<WhyWithout | undefined> {
  if (nodeName === undefined || !isUuid(id)) return 'strange';
  const names = await namesOf(id, nodeName);
  if (!names) return 'unnamed';
  const [serverName] = names;
  if (serverName === undefined) return 'strange';
  if (isCalled(names, nodeName)) return undefined;
  const text = 'the port of a node gets no security group: nova calls its server by another name than the node has';
  const next = 'if it is the server of the node, name it in nova like the node, or allow the node ports on it yourself';
  logger.warn(text, { node: nodeName, server: id, serverName, next });
  return 'strange';
}

/** A node of two addresses asks about its server once. */
function serverNames(client: ApiClient, facts: LearnedFacts, call: CallContext): Parameters<typeof whyNotOf>[2] {
  const asked = new Map<string, ReturnType<typeof namesOfServer>>();
  const ask = async (id: string, nodeName: string): ReturnType<typeof namesOfServer> => {
    const known = facts.serverNames(id);
    if (known) return known.names;
    try {
      const names = await namesOfServer(client, id, call);
      facts.noteServerNames(id, names);
      return names;
    } catch (error) {
      if (!isCloudError(error, 'forbidden')) throw error;
      // Without nova's word the port would be opened on the word of a kubelet.
      const text = `the security group is not on the port of node ${nodeName}: nova does not let the user of the cloud config read the server (policy os_compute_api:servers:show); give the user the role reader in the project`;
      throw new CloudError('forbidden', text, { cause: error });
    }
  };
  return (id, nodeName) => {
    const names = asked.get(id) ?? ask(id, nodeName);
    asked.set(id, names);
    return names;
  };
}

export async function detachSecurityGroup(
  client: ApiClient,
  { groupId, portIds }: ChangeOf<'detach-security-group'>,
  turns: PortTurns,
  call: CallContext,
): Promise<void> {
  for (const id of portIds) {
    try {
      await turns.take(id, call.signal, async () => {
        const port = await readOne<WirePort>(client, ['network', '/v2.0/ports'], id, call);
        await changeGroups(client, port, (groups) => groups.filter((one) => one !== groupId), call);
      });
    } catch (error) {
      if (!isCloudError(error, 'not-found')) throw error;
    }
  }
}

function changeGroups(
  client: ApiClient,
  port: WirePort,
  change: (groups: readonly string[]) => readonly string[],
  call: CallContext,
): Promise<void> {
  const changed = ({ security_groups: before }: WirePort): Partial<WirePort> | undefined => {
    const groups = change(before);
    return groups.length === before.length ? undefined : { security_groups: groups };
  };
  return changePort(client, port, changed, call);
}
