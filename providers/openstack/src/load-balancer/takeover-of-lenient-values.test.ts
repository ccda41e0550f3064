/** What cloud-provider-openstack serves with its default, or with one family, is taken over and served on. */
import { strict as assert } from 'node:assert';
import { test } from 'node:test';
import { cpoEnsure } from './cpo-calls.suite.ts';
import { annotated } from './desired/tree-inputs.suite.ts';
import { loadBalancerIn } from './observed-tree.ts';
import { Rig, serviceNamed } from './rig.suite.ts';

const lenient = {
  'connection-limit: unlimited': { annotations: annotated({ connectionLimit: 'unlimited' }) },
  'proxy-protocol: "True"': { annotations: annotated({ proxyProtocol: 'True' }) },
  'timeout-client-data: 60s': { annotations: annotated({ timeoutClientData: '60s' }) },
  'internal: "True"': { annotations: annotated({ internal: 'True' }) },
  'network-id by name': { annotations: annotated({ networkId: 'my-network' }) },
  'flavor-id by name': { annotations: annotated({ flavorId: 'small' }) },
  RequireDualStack: { ipFamilies: ['IPv4', 'IPv6'], ipFamilyPolicy: 'RequireDualStack' },
} as const;

for (const [what, more] of Object.entries(lenient)) {
  test(`${what}: served on, with a warning, and a new node becomes a member`, async () => {
    const rig = await Rig.open();
    const theirs = await cpoEnsure(rig, serviceNamed('web', more));
    const plan = await rig.bring(theirs);
    assert.deepEqual([plan.refused, plan.complete, plan.warnings?.length], [undefined, true, 1]);
    rig.backEnds = [...rig.backEnds, rig.addNode('node-3')];
    await rig.bring(theirs);
    const parts = (await rig.look(theirs)).filter(({ kind }) => kind === 'load-balancer');
    const listeners = parts.flatMap((part) => loadBalancerIn(part).children?.listeners ?? []);
    assert.deepEqual(
      listeners.map(({ pool }) => pool?.members.map(({ name }) => name).toSorted()),
      [['node-1', 'node-2', 'node-3']],
    );
  });
}
