/**
 * Load balancers that cloud-provider-aws v1.37.0 made, as its goldens have them, taken over by the provider: what is written, what stays for cloud-provider-aws
 * to find again, and that nothing is left when the Service goes.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { AccountState, GroupState, RuleState } from '../../providers/aws/lab/account-state.ts';
import { goldens, type Golden, type GoldenService } from '../../providers/aws/lab/golden.ts';
import { HandedOverAccount, titleOf } from './handed-over-account.ts';

/** Whose the group and the load balancer are; attributes, and a tag that says that they are as the Service asks for them. */
const CLAIMED_CLASSIC = ['ec2:CreateTags', 'elb:AddTags', 'elb:ModifyLoadBalancerAttributes', 'elb:AddTags'];
/** Which tags the Service has asked for, on both. */
const WITH_TAGS = ['ec2:CreateTags', 'elb:AddTags'];
/** What cuts no traffic. */
const HARMLESS =
  /^(?:ec2:(?:CreateTags|CreateSecurityGroup|AuthorizeSecurityGroupIngress|RevokeSecurityGroupIngress)|elbv2:(?:AddTags|SetSecurityGroups|Modify(?:LoadBalancer|TargetGroup)Attributes))$/u;
const HARMLESS_TO_CLASSIC = /^(?:ec2:CreateTags|elb:(?:AddTags|ModifyLoadBalancerAttributes))$/u;

/** With only what traffic goes by. */
function trafficIn({ classicLoadBalancers, networkLoadBalancers, targetGroups }: AccountState): object {
  return {
    // The shared group comes to those of a Network Load Balancer.
    network: networkLoadBalancers.map((one) => ({
      ...one,
      tags: {},
      securityGroups: [],
      listeners: one.listeners.map((listener) => ({ ...listener, tags: {} })),
    })),
    targetGroups: targetGroups.map((one) => ({ ...one, tags: {} })).toSorted((a, b) => a.port - b.port),
    classic: classicLoadBalancers.map((one) => ({ ...one, tags: {} })),
  };
}

/** By name: what a client of AWS finds things by, and sees them as its own. */
function tagsIn({ classicLoadBalancers, networkLoadBalancers, securityGroups, targetGroups }: AccountState) {
  const all = [...classicLoadBalancers, ...networkLoadBalancers, ...securityGroups, ...targetGroups];
  return new Map(all.map(({ name, tags }) => [name, tags]));
}

const nodesIn = ({ securityGroups }: AccountState): GroupState =>
  securityGroups.find(({ name }) => !name.startsWith('k8s-')) ?? assert.fail('the nodes have no group');

/** Rules by which nodes let in what comes from these groups, or, by their addresses, clients. */
function openings(state: AccountState, groups: readonly string[]): readonly RuleState[] {
  return nodesIn(state).ingress.filter(({ source }) => groups.includes(source) || source.includes('/'));
}

function assertStillServes(state: AccountState): void {
  const { classicLoadBalancers, networkLoadBalancers } = state;
  for (const { securityGroups } of [...classicLoadBalancers, ...networkLoadBalancers]) {
    assert.ok(openings(state, securityGroups).length > 0, 'nodes let in what comes from it');
  }
}

async function takeOver(account: HandedOverAccount, golden: GoldenService): Promise<void> {
  await account.restore(golden);
  const before = await account.state();
  assert.equal(before.networkLoadBalancers.length + before.classicLoadBalancers.length, 1);
  assertStillServes(before);
  await account.bring(true);
  const writes = account.takeWrites();
  const hasTags = Object.keys(golden.annotations).some((name) => name.endsWith('-additional-resource-tags'));
  if (before.classicLoadBalancers.length > 0) {
    assert.deepEqual(writes.toSorted(), [...CLAIMED_CLASSIC, ...(hasTags ? WITH_TAGS : [])].toSorted());
  } else assert.deepEqual(new Set(writes.filter((one) => !HARMLESS.test(one))), new Set());

  const after = await account.state();
  assert.deepEqual(trafficIn(after), trafficIn(before));
  assertStillServes(after);
  const tags = tagsIn(after);
  for (const [name, its] of tagsIn(before)) {
    for (const [key, value] of Object.entries(its)) assert.equal(tags.get(name)?.[key], value, `${name}: ${key}`);
  }
}

/** Once for each write that the take-over has: it takes effect, and its answer comes never. */
async function loseEachAnswer({ config }: Golden, golden: GoldenService, kills: boolean): Promise<void> {
  await using clean = await HandedOverAccount.open(golden, config);
  const empty = await clean.state();
  await clean.restore(golden);
  const before = await clean.state();
  await clean.bring(true);
  const expected = await clean.state();
  const harmless = before.classicLoadBalancers.length > 0 ? HARMLESS_TO_CLASSIC : HARMLESS;
  const writes = clean.takeWrites().length;
  assert.ok(writes >= CLAIMED_CLASSIC.length);
  let lost = 0;
  for (let at = 0; at < writes; at++) {
    await using account = await HandedOverAccount.open(golden, config);
    await account.restore(golden);
    account.loseAnswer(at, kills);
    await account.persist(true, async () => {
      lost++;
      const state = await account.state();
      assert.deepEqual(trafficIn(state), trafficIn(before), `write ${at}`);
      assertStillServes(state);
    });
    assert.ok(!account.isLossPending);
    assert.deepEqual(await account.state(), expected, `write ${at}`);
    assert.deepEqual(
      account.takeWrites().filter((one) => !harmless.test(one)),
      [],
    );
    await account.later();
    await account.bring(false);
    assert.deepEqual(await account.state(), empty, `write ${at}`);
    assert.deepEqual(account.cloud.aws.takeProblems(), []);
  }
  // Where the process lives on, the host repeats what can be repeated.
  if (kills) assert.equal(lost, writes);
}

/** Without the names of target groups, which cloud-provider-aws finds by their load balancer. */
function byPort(state: AccountState): object {
  const names = state.targetGroups.map(({ name, port, protocol }) => [name, `${protocol} ${port}`] as const);
  const text = names.reduce((json, [name, port]) => json.replaceAll(name, port), JSON.stringify(trafficIn(state)));
  return JSON.parse(text) as object;
}

function balancersIn({ cloud }: HandedOverAccount): readonly string[] {
  const { balancers, classics } = cloud.aws.account;
  return [...balancers.all().map(({ name }) => name), ...classics.all().map(({ id }) => id)];
}

for (const golden of goldens().filter(({ cloud }) => cloud === 'fake')) {
  for (const service of golden.services) {
    test(`${titleOf(golden, service)}: taken over as it is, and gone without a rest`, async () => {
      await using account = await HandedOverAccount.open(service, golden.config);
      const empty = await account.state();
      await takeOver(account, service);
      assert.deepEqual([await account.bring(true), account.takeWrites()], [[], []], 'nothing more is to be done');

      await account.later();
      await account.bring(false);
      assert.deepEqual(await account.state(), empty);
      assert.deepEqual(account.cloud.aws.takeProblems(), []);
    });

    test(`${titleOf(golden, service)}: taken over by processes that are killed after any write, it is the same in the end`, async () => {
      await loseEachAnswer(golden, service, true);
    });

    if (['network', 'classic'].includes(service.name)) {
      test(`${titleOf(golden, service)}: taken over without the answer to any write, it is the same in the end`, async () => {
        await loseEachAnswer(golden, service, false);
      });
    }

    test(`${titleOf(golden, service)}: made anew, it is what cloud-provider-aws finds as its own`, async () => {
      await using account = await HandedOverAccount.open(service, golden.config);
      await account.bring(true);
      const [ours, theirs] = [await account.state(), service.made];
      assert.deepEqual(byPort(ours), byPort(theirs));
      assert.deepEqual(balancersIn(account), [`a${service.uid.replaceAll('-', '')}`.slice(0, 32)]);
      const found = tagsIn(ours);
      for (const [name, its] of tagsIn({ ...theirs, targetGroups: [] })) {
        for (const [key, value] of Object.entries(its)) assert.equal(found.get(name)?.[key], value, `${name}: ${key}`);
      }
    });
  }
}
