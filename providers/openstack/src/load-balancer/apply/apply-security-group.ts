/** Puts security groups onto ports, and takes them off. */
import { isCloudError, type CallContext } from '@outrigger/cloud-provider';
import type { ApiClient } from '../../client/api-client.ts';
import { changePort } from '../../client/change-port.ts';
import { readIfThere, readOne } from '../../client/read-one.ts';
import type { Server } from '../../instances/server.ts';
import { isUuid } from '../../uuid.ts';
import type { LearnedFacts } from '../learned-facts.ts';
import type { WirePort } from '../neutron-wire.ts';
import type { ChangeOf } from '../plan/change.ts';
import type { PortTurns } from './port-turns.ts';
import { portOf, portsByAddress } from './ports-by-address.ts';

/** Onto the ports of the members' servers that have the members' addresses, where they have port security. */
export async function attachSecurityGroup(
  client: ApiClient,
  { groupId, members }: ChangeOf<'attach-security-group'>,
  { facts, turns }: { readonly facts: LearnedFacts; readonly turns: PortTurns },
  call: CallContext,
): Promise<void> {
  const ports = await portsByAddress(
    client,
    members.map(({ address }) => address),
    call,
  );
  const without: string[] = [];
  const secured = ports.filter((one) => one.port_security_enabled !== false);
  for (const member of members) {
    // Where no server is known, among all of them: the one without port security may be the node's, and the other a stranger's.
    const found = portOf(member.providerID === undefined ? ports : secured, member);
    const secure = found?.port_security_enabled === false ? undefined : found;
    const port = secure && (await isServerOf(client, secure, member.nodeName, facts, call)) ? secure : undefined;
    const withGroup = (groups: readonly string[]): readonly string[] => [
      ...groups.filter((id) => id !== groupId),
      groupId,
    ];
    if (port) {
      await turns.take(port.id, call.signal, async (waited) => {
        const current = waited ? await readOne<WirePort>(client, ['network', '/v2.0/ports'], port.id, call) : port;
        await changeGroups(client, current, withGroup, call);
      });
    } else without.push(member.address);
  }
  facts.noteWithoutPort(groupId, without);
}

/**
 * Whether nova calls the port's server as the node is called. The provider ID of a node, and the addresses of one that has none of nova's, are
 * what its kubelet says: by them alone, any server's port of the project could be opened. Its name no kubelet chooses (NodeRestriction).
 */
async function isServerOf(
  client: ApiClient,
  { device_id: id }: WirePort,
  nodeName: string | undefined,
  facts: LearnedFacts,
  call: CallContext,
): Promise<boolean> {
  if (nodeName === undefined || !isUuid(id)) return false;
  const name = facts.serverName(id) ?? (await readIfThere<Server>(client, ['compute', '/servers'], id, call))?.name;
  if (name === undefined) return false;
  facts.noteServerName(id, name);
  if (isCalled(name, nodeName)) return true;
  const text = 'the port of a node gets no security group: nova calls its server by another name than the node has';
  const next = 'if it is the server of the node, name it in nova like the node, or allow the node ports on it yourself';
  call.logger.warn(text, { node: nodeName, server: id, serverName: name, next });
  return false;
}

/** But for the case of letters, what nova leaves out of host names, and a domain that one of them has. */
function isCalled(serverName: string, nodeName: string): boolean {
  const server = serverName.toLowerCase().replaceAll(/[ _]/gu, '-');
  const node = nodeName.toLowerCase();
  return server === node || server.startsWith(`${node}.`) || node.startsWith(`${server}.`);
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
