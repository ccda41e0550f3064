/** A load balancer can do what the driver has that made it, whatever `lb-provider` says by now. */
import { strict as assert } from 'node:assert';
import { test } from 'node:test';
import { annotated } from './desired/tree-inputs.suite.ts';
import { loadBalancerIn } from './observed-tree.ts';
import { Rig, served, serviceNamed } from './rig.suite.ts';

// `SOURCE_IP_PORT` is what ovn has, and amphora has not.
for (const [method, more] of [
  ['with lb-method as it was', {}],
  ['with lb-method=SOURCE_IP_PORT', { lbMethod: 'SOURCE_IP_PORT' }],
] as const) {
  test(`load balancers of amphora are served on, and follow the nodes, after lb-provider has become ovn, ${method}`, async () => {
    const rig = await Rig.open();
    const web = serviceNamed('web', { annotations: annotated({ proxyProtocol: 'v1' }) });
    const was = served(web, await rig.bring(web));
    rig.config = { lbProvider: 'ovn', ...more };
    const plan = await rig.pass(rig.desired(was));
    assert.deepEqual([plan.refused, plan.actions, plan.complete], [undefined, [], true]);
    rig.backEnds = [...rig.backEnds, rig.addNode('node-3')];
    assert.ok((await rig.bring(was)).complete);
    const [part] = (await rig.look(was)).filter(({ kind }) => kind === 'load-balancer');
    assert.ok(part);
    const { children, provider } = loadBalancerIn(part);
    assert.deepEqual(
      [provider, children?.listeners[0]?.pool?.members.map(({ name }) => name).toSorted()],
      ['amphora', ['node-1', 'node-2', 'node-3']],
    );
  });
}

test('a load balancer of amphora that is to be reached from outside gets its floating IP after lb-provider has become ovn', async () => {
  const rig = await Rig.open();
  const annotations = annotated({ proxyProtocol: 'v1', internal: 'true' });
  const web = serviceNamed('web', { annotations });
  const was = served(web, await rig.bring(web));
  rig.config = { lbProvider: 'ovn' };
  const plan = await rig.bring({ ...was, annotations: { ...was.annotations, ...annotated({ internal: 'false' }) } });
  assert.equal(plan.refused, undefined);
  assert.notDeepEqual(plan.ingress, was.ingress);
  assert.equal(rig.cloud.calls.counts()['network POST /floatingips'], 1);
});
