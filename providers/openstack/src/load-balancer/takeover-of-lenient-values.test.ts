/** What cloud-provider-openstack serves with its default, or with one family, is taken over and served on. */
import { strict as assert } from 'node:assert';
import { test } from 'node:test';
import { cpoEnsure } from './cpo-calls.suite.ts';
import { annotationTable } from './desired/annotation-table.ts';
import { annotated, portOf } from './desired/tree-inputs.suite.ts';
import { loadBalancerIn } from './observed-tree.ts';
import { Rig, served, serviceNamed } from './rig.suite.ts';

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

const floatingIPs = ({ cloud }: Rig): number =>
  cloud.calls.all().filter(({ operation }) => operation === 'POST /floatingips').length;

test('a served Service that was internal is not exposed by what is neither true nor false', async () => {
  const rig = await Rig.open();
  const web = serviceNamed('web', { annotations: annotated({ internal: 'true' }) });
  const was = served(web, await rig.bring(web));
  const annotations = { ...was.annotations, ...annotated({ internal: 'True' }) };
  const plan = await rig.bring({ ...was, annotations });
  assert.deepEqual([plan.refused, plan.complete, plan.ingress], [undefined, true, was.ingress]);
  assert.equal(floatingIPs(rig), 0);
});

for (const bad of [{ internal: 'True' }, { networkId: 'my-network' }, { flavorId: 'small' }] as const) {
  test(`${JSON.stringify(bad)}: no load balancer is made in place of one that is gone, and no other's is joined`, async () => {
    const rig = await Rig.open();
    const web = serviceNamed('web');
    const was = served(web, await rig.bring(web));
    const joining = serviceNamed('joining', { ports: [portOf(81)] });
    const { loadBalancerId } = annotationTable;
    const named = { [loadBalancerId.name]: was.annotations[loadBalancerId.name] ?? '' };
    const refused = await rig.bring({ ...joining, annotations: { ...named, ...annotated(bad) } });
    assert.match(refused.refused?.message ?? '', /^annotation /u);
    await rig.bring(was, false);
    const again = await rig.bring({ ...was, annotations: { ...was.annotations, ...annotated(bad) } });
    assert.match(again.refused?.message ?? '', /^annotation /u);
  });
}
