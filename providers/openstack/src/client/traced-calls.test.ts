/** What a subscriber of the host's tracing channel learns of each request to OpenStack. */
import assert from 'node:assert/strict';
import { tracingChannel } from 'node:diagnostics_channel';
import { test } from 'node:test';
import { isCloudError, type DesiredLoadBalancer } from '@outrigger/cloud-provider';
import { CLOUD_CALL_CHANNEL, type CloudCallTrace } from '@outrigger/cloud-runtime';
import { nodeOf, openFakeCluster } from '../instances/fake-cluster.suite.ts';
import { serviceOf } from '../load-balancer/desired/tree-inputs.suite.ts';

const SERVICES: readonly string[] = ['identity', 'compute', 'network', 'load-balancer'];
const VERB_AND_PATH = /^(?:GET|POST|PUT|PATCH|DELETE) \//u;
/** UUIDs, keystone's IDs, addresses. */
const AN_ID = /[0-9a-f]{8}|\d+\.\d+\.\d+/u;

test('every request is traced: service, verb, path without IDs, what came of it', async () => {
  await using cluster = await openFakeCluster();
  const { cloud, opened, seeded } = cluster;
  const traces: CloudCallTrace[] = [];
  const channel = tracingChannel<string, CloudCallTrace>(CLOUD_CALL_CHANNEL);
  const subscriber = { asyncEnd: (trace: CloudCallTrace): void => void traces.push({ ...trace }) };
  channel.subscribe(subscriber as Parameters<typeof channel.subscribe>[0]);
  try {
    const { port, server } = seeded.addNode({ name: 'node-1' });
    const call = opened.callContext({ signal: new AbortController().signal, priority: 'normal' });
    const { instances, loadBalancers } = opened.capabilities;
    assert.ok(instances && loadBalancers);
    await instances.read(nodeOf('node-1', server.id), 'metadata', call);
    await instances.lookUp([nodeOf('node-1')], 'metadata', call);
    cloud.faults.set({ service: 'compute', effect: 'status', status: 403 });
    await assert.rejects(instances.read(nodeOf('node-1', server.id), 'state', call), (error) =>
      isCloudError(error, 'forbidden'),
    );
    cloud.faults.set();
    const service = serviceOf();
    const owner = { clusterId: 'cluster-1', uid: service.uid };
    const backEnds = [
      {
        node: nodeOf('node-1', server.id),
        addresses: [{ type: 'InternalIP' as const, address: port.fixed_ips[0]?.ip_address ?? '' }],
      },
    ];
    const desired: DesiredLoadBalancer = { service, wanted: true, owner, backEnds };
    const [seen] = await loadBalancers.observe([service], call);
    assert.ok(seen?.kind === 'parts');
    for (const action of loadBalancers.plan(desired, seen.parts).actions) {
      await loadBalancers.apply(action, desired, call);
    }
  } finally {
    channel.unsubscribe(subscriber as Parameters<typeof channel.subscribe>[0]);
  }
  const sent = cloud.calls.all().filter(({ service }) => service !== 'identity');
  const traced = traces.filter(({ bucket }) => bucket !== 'identity');
  assert.equal(traced.length, sent.length, 'every request, and each once');
  for (const { bucket, operation, provider } of traces) {
    assert.equal(provider, 'openstack');
    assert.ok(SERVICES.includes(bucket), bucket);
    assert.match(operation, VERB_AND_PATH);
    assert.doesNotMatch(operation, AN_ID);
  }
  assert.deepEqual(
    traces.map(({ code }) => code).filter((code) => code !== 'ok'),
    ['forbidden'],
  );
  assert.ok(traces.some(({ bucket, operation }) => bucket === 'load-balancer' && operation.startsWith('POST ')));
});
