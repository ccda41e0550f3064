import { strict as assert } from 'node:assert';
import { test } from 'node:test';
import { Rig, serviceNamed } from './rig.suite.ts';

test('what a POST has said of a floating IP or a security group is not said again', async () => {
  const rig = await Rig.open({ loadBalancer: { manageSecurityGroups: true } });
  rig.cloud.calls.reset();
  assert.ok((await rig.bring(serviceNamed('web'))).complete);
  const again = rig.cloud.calls
    .all()
    .map(({ operation }) => operation)
    .filter((operation) => /^PUT \/(floatingips|security-groups)\/\{[^}]*\}$/.test(operation));
  assert.deepEqual(again, []);
});
