/** `--unmanaged-nodes` in the whole program, on a real API server: what each controller does for a node, and for none that the flag describes. */
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';
import { resources, type Node } from '@outrigger/kube';
import { controlPlaneOrSkip, hollowNode } from '@outrigger/testing';
import { CloudStory, STORY_FLAGS } from './cloud-story.ts';
import { askFor, requestsAs } from './serving-requests.ts';

const FLAGS = [
  ...STORY_FLAGS,
  '--leader-elect=false',
  '--controllers=*,node-ipam-controller,kubelet-serving',
  '--unmanaged-nodes=label:example.com/edge,taint:example.com/cellar',
];
const OWN_RANGE = '10.64.0.0/24';
const idOf = (name: string): string => `memory://region-1/${name}`;

test('--unmanaged-nodes: such a node gets no pod range and no route, is no back end, and its certificate is left to a person', async (t) => {
  const controlPlane = await controlPlaneOrSkip(t, { kubectl: true });
  if (!controlPlane) return;
  await using owned = new AsyncDisposableStack();
  const story = owned.use(await CloudStory.open(controlPlane));
  const nodes = story.client.of(resources.nodes);
  const services = story.client.of(resources.services);
  const requests = story.client.of(resources.certificateSigningRequests);
  const get = (name: string): Promise<Node> => nodes.get({ name });
  const askAs = async (name: string): Promise<void> => {
    const address = story.cloud.instance(name)?.addresses[0]?.address ?? '';
    const kubelet = await requestsAs(controlPlane, owned, { user: `system:node:${name}` });
    await askFor(kubelet, `serving-${name}`, { node: name, dns: [name], ips: [address] });
  };
  const decisionOf = async (name: string): Promise<string> => {
    const { status } = await requests.get({ name: `serving-${name}` });
    return status?.conditions?.map(({ type }) => type).join() ?? 'pending';
  };
  const backEnds = (): unknown =>
    story.cloud.parts().find(({ kind }) => kind === 'load-balancer')?.attributes['backEnds'];
  const routed = (): readonly string[] => story.cloud.routes().map(({ nodeName }) => nodeName);

  const { log } = await story.run('unmanaged-nodes', FLAGS);
  // A range that a node has at the start, and that is newer than ten minutes, would be a sign of another allocator.
  await story.until('the program has read which ranges are in use', async () =>
    (await readFile(log, 'utf8')).includes('"Starting controller" controller="node-ipam-controller"'),
  );
  // Each has a machine of its name, so that nothing but the flag keeps the program away from it.
  for (const name of ['edge', 'cellar', 'here']) story.cloud.createInstance({ name });
  await nodes.create(hollowNode({ name: 'edge', images: 0, labels: { 'example.com/edge': '' } }));
  // Its own agent has given it a provider ID, and the first range that there is.
  await nodes.create({
    ...hollowNode({ name: 'cellar', images: 0 }),
    spec: {
      providerID: idOf('cellar'),
      podCIDR: OWN_RANGE,
      podCIDRs: [OWN_RANGE],
      taints: [{ key: 'example.com/cellar', value: '', effect: 'NoSchedule' }],
    },
  });
  for (const name of ['edge', 'cellar']) await askAs(name);
  const before = { edge: await get('edge'), cellar: await get('cellar') };
  await services.create({
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { namespace: 'default', name: 'web' },
    spec: { type: 'LoadBalancer', ports: [{ port: 80, protocol: 'TCP' }], selector: { app: 'web' } },
  });

  await nodes.create(hollowNode({ name: 'here', images: 0 }));
  await story.isServed('here');
  await askAs('here');
  await story.until('its request is approved', async () => (await decisionOf('here')) === 'Approved');
  await story.until('it is the one back end', () => Promise.resolve(String(backEnds()) === idOf('here')));

  assert.notEqual((await get('here')).spec?.podCIDR, OWN_RANGE);
  assert.deepEqual(routed(), ['here']);
  for (const name of ['edge', 'cellar'] as const) {
    const { metadata, spec } = await get(name);
    assert.deepEqual(spec, before[name].spec);
    assert.deepEqual(metadata?.labels, before[name].metadata?.labels);
    assert.equal(await decisionOf(name), 'pending');
  }

  // What does not come under the rule any more gets all of it: nothing else has kept the program away.
  const remove = { type: 'json', operations: [{ op: 'remove', path: '/metadata/labels/example.com~1edge' }] } as const;
  await nodes.patch({ name: 'edge' }, remove);
  await story.isServed('edge');
  await story.until('its request is approved', async () => (await decisionOf('edge')) === 'Approved');
  await story.until('it is a back end', () =>
    Promise.resolve(String(backEnds()) === [idOf('edge'), idOf('here')].join()),
  );
  assert.deepEqual(routed().toSorted(), ['edge', 'here']);
  assert.deepEqual((await get('cellar')).spec, before.cellar.spec);
  assert.equal(await decisionOf('cellar'), 'pending');
});
