/** What `outrigger migrate check` says of Services that cloud-provider-openstack serves: the plans of the service controller, over the fake. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { LoadBalancerService } from '@outrigger/cloud-provider';
import { previewServices, type PreviewedService } from '@outrigger/controllers';
import type { Service } from '@outrigger/kube';
import { nodeOf, webSpec } from '../../packages/controllers/src/service/rig.suite.ts';
import { cpoEnsure } from '../../providers/openstack/src/load-balancer/cpo-calls.suite.ts';
import { annotated } from '../../providers/openstack/src/load-balancer/desired/tree-inputs.suite.ts';
import { callContext, Rig, serviceNamed } from '../../providers/openstack/src/load-balancer/rig.suite.ts';

function objectOf({ annotations, ingress, name, namespace, ports, sourceRanges, uid }: LoadBalancerService): Service {
  const shown = ports.map(({ nodePort = 0, port, protocol }) => ({ nodePort, port, protocol }));
  return {
    metadata: { name, namespace, uid, annotations: { ...annotations } },
    spec: { ...webSpec, ports: shown, loadBalancerSourceRanges: [...sourceRanges] },
    status: { loadBalancer: { ingress: ingress.map(({ ip = '' }) => ({ ip })) } },
  };
}

async function preview(rig: Rig, services: readonly LoadBalancerService[]): Promise<readonly PreviewedService[]> {
  const nodes = rig.backEnds.map(({ addresses, node: { name, providerID = '' } }) =>
    nodeOf(name, {
      spec: { providerID },
      status: { addresses: addresses.map(({ address }) => ({ type: 'InternalIP' as const, address })) },
    }),
  );
  const before = await rig.everything();
  const found = await previewServices({
    loadBalancers: rig.provider,
    services: services.map(objectOf),
    nodes,
    options: { providerName: 'openstack', clusterId: rig.clusterId, isDefault: true },
    call: callContext(),
  });
  assert.deepEqual(await rig.everything(), before, 'nothing was changed');
  return found;
}

const summaries = ({ actions }: PreviewedService): readonly string[] => actions.map(({ summary = '' }) => summary);

test('what is taken over, what would be changed, and what would be refused', async () => {
  const rig = await Rig.open();
  const web = await cpoEnsure(rig, serviceNamed('web'));
  const strict = await cpoEnsure(rig, serviceNamed('strict'));
  const named = { ...strict, annotations: { ...strict.annotations, ...annotated({ subnetId: 'my-subnet' }) } };
  const lenient = await cpoEnsure(
    rig,
    serviceNamed('lenient', { annotations: annotated({ connectionLimit: 'many' }) }),
  );
  rig.backEnds = [...rig.backEnds, rig.addNode('node-3')];
  const [first, second, third, fourth] = await preview(rig, [web, named, lenient, serviceNamed('new')]);
  assert.ok(first && second && third && fourth);
  assert.equal(first.outcome, 'changes');
  assert.match(
    summaries(first).join('; '),
    /take over the load balancer .*take over the floating IP .*set the 3 members/u,
  );
  assert.ok(first.actions.every(({ kind }) => kind === 'claim' || kind === 'update'));
  assert.equal(second.outcome, 'refused');
  assert.match(second.why ?? '', /subnet-id: "my-subnet" is not an ID/u);
  assert.match(third.warnings.join('; '), /connection-limit is ignored/u);
  assert.deepEqual(
    [fourth.outcome, fourth.isServed, summaries(fourth)],
    [
      'changes',
      false,
      ['create the load balancer kube_service_kubernetes_default_new: TCP 80', 'create a floating IP'],
    ],
  );
});

test('members of a Service that would be refused follow the nodes', async () => {
  const rig = await Rig.open();
  const web = serviceNamed('web');
  const plan = await rig.bring(web);
  rig.backEnds = [...rig.backEnds, rig.addNode('node-3')];
  const annotations = { ...plan.annotations, ...annotated({ lbMethod: 'BEST' }) } as Record<string, string>;
  const [one] = await preview(rig, [{ ...web, annotations, ingress: plan.ingress }]);
  assert.equal(one?.outcome, 'refused');
  assert.match(one.actions.map(({ summary = '' }) => summary).join('; '), /set the 3 members/u);
});

test('what is taken over and refused from then on is told as refused', async () => {
  const rig = await Rig.open();
  const web = await cpoEnsure(rig, serviceNamed('web'));
  const ports = Array.from({ length: 25 }, (_, i) => ({ ...web.ports[0]!, name: `p${i}`, port: 80 + i }));
  const sourceRanges = Array.from({ length: 4_096 }, (_, i) => `10.${i >> 8}.${i & 255}.0/24`);
  const [one] = await preview(rig, [{ ...web, ports, sourceRanges }]);
  assert.equal(one?.outcome, 'refused');
  assert.match(one.why ?? '', /25 ports with 4096 source ranges/u);
  assert.ok(summaries(one).some((summary) => summary.startsWith('take over the load balancer')));
});
