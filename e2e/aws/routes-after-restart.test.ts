/** The route controller, the provider and the fake: routes whose instances were terminated while the program did not run. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Node } from '@outrigger/kube';
import { UnmarkedRig } from '../../packages/controllers/src/route/unmarked-rig.suite.ts';
import { fakeLabCloud } from '../../providers/aws/lab/fake-cloud.suite.ts';
import { nodeOf, scenarioOf } from '../../providers/aws/lab/scenario-cloud.ts';
import type { SeededInstance } from '../../providers/aws/lab/seed-account.ts';
import { createAwsRoutes } from '../../providers/aws/src/routes/aws-routes.ts';

const MINUTE = 60_000;
const FOREIGN = 'fd00:0:0:9::/64';

function kubernetesNode(instance: SeededInstance, name: string, podCIDR: string): Node {
  const { providerID, uid } = nodeOf(instance);
  return {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { name, uid },
    spec: { providerID: providerID ?? '', podCIDRs: [podCIDR] },
    status: { conditions: [{ type: 'Ready', status: 'True' }] },
  };
}

test("the black holes that a restart finds are replaced or removed where they are ours, and somebody else's is not", async (t) => {
  await using rig = new UnmarkedRig('instance', 'aws');
  const cloud = fakeLabCloud(4, rig.clock);
  const opened = await scenarioOf(async () => cloud, t);
  assert.ok(opened);
  const [gone, back, stays, foreign] = cloud.account.instances;
  assert.ok(gone && back && stays && foreign);
  const table = (): ReadonlyMap<string, string> => {
    const routes = cloud.aws.account.routeTables.get(cloud.account.routeTableId)?.routes ?? [];
    return new Map(
      routes.flatMap(({ destination, networkInterfaceId: hop }) => (hop === undefined ? [] : [[destination, hop]])),
    );
  };
  rig.api.put(kubernetesNode(gone, 'gone', 'fd00:0:0:3::/64'));
  rig.api.put(kubernetesNode(back, 'back', 'fd00:0:0:1::/64'));
  rig.api.put(kubernetesNode(stays, 'stays', 'fd00:0:0:2::/64'));
  await rig.start(createAwsRoutes(opened.setup));
  await rig.advance(MINUTE);
  const before = table();
  assert.deepEqual([...before.keys()].toSorted(), ['fd00:0:0:1::/64', 'fd00:0:0:2::/64', 'fd00:0:0:3::/64']);

  await rig.stop();
  await createAwsRoutes(opened.setup).create(
    [{ node: nodeOf(foreign), addresses: [], destination: FOREIGN }],
    opened.call(),
  );
  for (const { id } of [gone, back, foreign]) await cloud.terminate(id);
  rig.api.remove('gone');
  const [again] = await cloud.addInstances(1);
  assert.ok(again);
  rig.api.put(kubernetesNode(again, 'back', 'fd00:0:0:1::/64'));
  await rig.start(createAwsRoutes(opened.setup));
  for (let i = 0; i < 12; i++) await rig.advance(MINUTE);
  const after = table();
  assert.deepEqual([...after.keys()].toSorted(), ['fd00:0:0:1::/64', 'fd00:0:0:2::/64', FOREIGN]);
  assert.equal(after.get('fd00:0:0:2::/64'), before.get('fd00:0:0:2::/64'));
  assert.notEqual(after.get('fd00:0:0:1::/64'), before.get('fd00:0:0:1::/64'));
  assert.deepEqual([rig.condition('back'), rig.condition('stays')], ['False', 'False']);
});
