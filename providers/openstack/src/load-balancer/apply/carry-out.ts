/** From each planned change to its request. */
import type { CallContext, LoadBalancerActionResult } from '@outrigger/cloud-provider';
import type { ApiClient } from '../../client/api-client.ts';
import type { LearnedFacts } from '../learned-facts.ts';
import type { PartKind } from '../observed-tree.ts';
import type { Change } from '../plan/change.ts';
import {
  createFloatingIP,
  deleteNeutronPart,
  moveFloatingIP,
  writeMark,
  writeNeutronTags,
} from './apply-floating-ip.ts';
import type { OctaviaChanges } from './apply-octavia.ts';
import { attachSecurityGroup, createRule, createSecurityGroup, detachSecurityGroup } from './apply-security-group.ts';
import type { PortTurns } from './port-turns.ts';

interface Hands {
  readonly client: ApiClient;
  readonly facts: LearnedFacts;
  readonly octavia: OctaviaChanges;
  readonly turns: PortTurns;
}

type Table = {
  readonly [Op in Change['op']]: (
    change: Extract<Change, { op: Op }>,
    hands: Hands,
    call: CallContext,
  ) => Promise<LoadBalancerActionResult>;
};

const table: Table = {
  'create-load-balancer': (change, { octavia }, call) => octavia.create(change, call),
  'delete-load-balancer': (change, { octavia }, call) => octavia.delete(change, call),
  octavia: (change, { octavia }, call) => octavia.change(change, call),
  tags: (change, { octavia }, call) => octavia.writeTags(change, call),
  'create-floating-ip': (change, { client, facts }, call) =>
    making('floating-ip', createFloatingIP(client, change, facts, call)),
  'move-floating-ip': (change, { client }, call) => done(moveFloatingIP(client, change, call)),
  'delete-floating-ip': ({ floatingIPId: id }, { client }, call) =>
    done(deleteNeutronPart(client, 'floatingips', id, call)),
  mark: (change, { client, facts }, call) => done(writeMark(client, change, facts, call)),
  'neutron-tags': (change, { client, facts }, call) => done(writeNeutronTags(client, change, facts, call)),
  'create-security-group': (change, { client, facts }, call) =>
    making('security-group', createSecurityGroup(client, change, facts, call)),
  'create-rule': (change, { client }, call) => done(createRule(client, change, call)),
  'delete-rule': ({ ruleId }, { client }, call) =>
    done(deleteNeutronPart(client, 'security-group-rules', ruleId, call)),
  'attach-security-group': (change, { client, facts, turns }, call) =>
    done(attachSecurityGroup(client, change, { facts, turns }, call)),
  'detach-security-group': (change, { client, turns }, call) => done(detachSecurityGroup(client, change, turns, call)),
  'delete-security-group': ({ groupId }, { client }, call) =>
    done(deleteNeutronPart(client, 'security-groups', groupId, call)),
};

export function carryOut<Op extends Change['op']>(
  change: Extract<Change, { op: Op }>,
  hands: Hands,
  call: CallContext,
): Promise<LoadBalancerActionResult> {
  // By the table's type each row takes the change of its name.
  const row = table[change.op] as (
    one: typeof change,
    hands: Hands,
    call: CallContext,
  ) => Promise<LoadBalancerActionResult>;
  return row(change, hands, call);
}

async function done(work: Promise<void>): Promise<LoadBalancerActionResult> {
  await work;
  return { kind: 'done' };
}

async function making(kind: PartKind, work: Promise<string>): Promise<LoadBalancerActionResult> {
  return { kind: 'done', made: { kind, id: await work } };
}
