import assert from 'node:assert/strict';
import { test } from 'node:test';
import { aService } from '../annotations/a-service.suite.ts';
import { ClassicRig } from './classic-rig.suite.ts';

test('a named group that has to wait for a full group of nodes is open nowhere else meanwhile, and the load balancer does not have it', async () => {
  const site = new ClassicRig();
  const add = (name: string): string =>
    site.aws.addSecurityGroup({ vpcId: site.cluster.vpcId, name, tags: { 'outrigger.dev/namespaces': 'shop' } });
  const [one, two] = [add('one'), add('two')];
  const bring = (securityGroups: string): Promise<readonly string[]> =>
    site.bring(site.desired(aService({ set: { securityGroups } })));
  const { account } = site.aws;
  // Another group of nodes, which has no room.
  const { tags } = account.groups.get(site.cluster.nodeGroupId)!;
  const full = site.aws.addSecurityGroup({ vpcId: site.cluster.vpcId, name: 'full', tags });
  const [first] = site.cluster.instances;
  const own = account.interfaces.all().find(({ attachment }) => attachment?.instanceId === first?.id);
  account.interfaces.seed({ ...own!, groupIds: [full] });
  const letInBy = (source: string): readonly string[] =>
    account.rules.all().flatMap(({ groupId, referencedGroupId: id }) => (id === source ? [groupId] : []));
  await bring(one);
  const both = [site.cluster.nodeGroupId, full].toSorted();
  assert.deepEqual(letInBy(one).toSorted(), both);
  site.aws.knobs.mostRules = 1;
  account.rules.remove(account.rules.all().find(({ groupId, isEgress }) => groupId !== full && !isEgress)!.id);
  for (let pass = 0; pass < 2; pass++) {
    await assert.rejects(bring(two), /is full/u);
    assert.deepEqual([letInBy(two), site.classic.groupIds], [[], [one]]);
  }
  await site.clock.advance(60_000);
  await bring(one);
  assert.deepEqual([letInBy(one).toSorted(), letInBy(two)], [both, []]);
});
