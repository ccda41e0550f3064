/** From each planned change to its requests. */
import type { CallContext } from '@outrigger/cloud-provider';
import type { ApiClient } from '../../client/api-client.ts';
import type { LearnedFacts } from '../learned-facts.ts';
import { KIND_OF } from '../observed-tree.ts';
import type { Change } from '../plan/change.ts';
import { changeFloatingIP, createMarked, sendNeutron, writeMark, writeNeutronTags } from './apply-neutron.ts';
import type { Carried, OctaviaChanges } from './apply-octavia.ts';
import { attachSecurityGroup, detachSecurityGroup } from './apply-security-group.ts';
import type { PortTurns } from './port-turns.ts';

interface Hands {
  readonly client: ApiClient;
  readonly facts: LearnedFacts;
  readonly octavia: OctaviaChanges;
  readonly turns: PortTurns;
}

export async function carryOut(
  change: Change,
  { client, facts, octavia, turns }: Hands,
  call: CallContext,
): Promise<Carried> {
  switch (change.op) {
    case 'create-load-balancer':
      return octavia.create(change, call);
    case 'delete-load-balancer':
      return octavia.delete(change, call);
    case 'octavia':
      return octavia.change(change, call);
    case 'tags':
      return octavia.writeTags(change, call);
    case 'create-marked': {
      const id = await createMarked(client, change, facts, call);
      return { kind: 'done', made: { kind: KIND_OF[change.collection], id } };
    }
    case 'neutron':
      await sendNeutron(client, change, call);
      break;
    case 'floating-ip':
      await changeFloatingIP(client, change, call);
      break;
    case 'mark':
      await writeMark(client, change, facts, call);
      break;
    case 'neutron-tags':
      await writeNeutronTags(client, change, facts, call);
      break;
    case 'attach-security-group':
      await attachSecurityGroup(client, change, { facts, turns }, call);
      break;
    case 'detach-security-group':
      await detachSecurityGroup(client, change, turns, call);
  }
  return { kind: 'done' };
}
