import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  createClient,
  createTransport,
  isStatusError,
  loadConfig,
  resources,
  systemClock,
  type Service,
} from '@outrigger/kube';
import { controlPlaneOrSkip } from '@outrigger/testing';
import { createMemoryCloud } from '../../../../providers/memory/src/index.ts';
import { SERVICE_WEBHOOK_PATH, serviceWebhookConfiguration } from '../deploy/service-webhook.ts';
import { prepareListener, register, runReplica, until } from './webhook-bench.suite.ts';

const CLASS = 'outrigger.dev/memory';
const TAKEN = 'taken';
const QUOTA = 'GET /quota';

function serviceOf(name: string, spec: Service['spec'] = {}): Service {
  return {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name, namespace: 'default' },
    spec: { type: 'LoadBalancer', selector: { app: name }, ports: [{ port: 80, protocol: 'TCP' }], ...spec },
  };
}

test('the cloud is asked about the Services that it is to serve, and only when what they ask for changes', async (t) => {
  const controlPlane = await controlPlaneOrSkip(t, { auditLog: false });
  if (!controlPlane) return;
  const cloud = createMemoryCloud({ clock: systemClock, random: () => 0 });
  cloud.createPart({
    kind: 'dns',
    tags: { clusterId: 'another-cluster', uid: 'theirs' },
    attributes: { name: `${TAKEN}.default.memory.test` },
  });
  await using transport = createTransport(await loadConfig({ kubeconfig: controlPlane.kubeconfig.path }));
  const warnings: string[] = [];
  const client = createClient(transport, { onWarning: (text) => void warnings.push(text) });
  const services = client.of(resources.services);
  const ref = (name: string): { name: string; namespace: string } => ({ name, namespace: 'default' });
  /** How often the webhook asked the cloud meanwhile. */
  const asked = async (act: () => Promise<unknown>): Promise<number> => {
    const before = cloud.calls().byOperation[QUOTA] ?? 0;
    warnings.length = 0;
    await act();
    return (cloud.calls().byOperation[QUOTA] ?? 0) - before;
  };
  const refused = (act: Promise<unknown>): Promise<void> =>
    assert.rejects(act, (error) => {
      assert.ok(isStatusError(error), String(error));
      assert.equal(error.code, 422);
      assert.match(error.message, /service\.outrigger\.dev.*taken\.default\.memory\.test belongs to another cluster/u);
      return true;
    });

  const listener = await prepareListener(controlPlane, 'service');
  {
    // No controller of it touches a Service: all that the cloud is asked comes from the webhook.
    await using program = runReplica(controlPlane, cloud, 'replica', [...listener.flags, '-v=4']);
    await until('a webhook', () => program.log().includes('Serving webhooks'));
    const options = { providerName: 'memory', classes: [CLASS], isDefault: true };
    const configuration = serviceWebhookConfiguration(options, listener.clientConfig(SERVICE_WEBHOOK_PATH));
    await register(client, configuration, 'service-webhook.yml');
    // The API server hears of its own object some time later.
    let tries = 0;
    await until('the webhook is called', async () => {
      return (await asked(() => services.create(serviceOf(`probe-${tries++}`)))) > 0;
    });

    // What cannot be is refused, of which class it says it is; what is not of this cloud is not asked about.
    await refused(services.create(serviceOf(TAKEN)));
    await refused(services.create(serviceOf(TAKEN, { loadBalancerClass: CLASS })));
    const otherClass = serviceOf(TAKEN, { loadBalancerClass: 'other.example/lb' });
    assert.equal(await asked(() => services.create(otherClass)), 0);
    await services.delete(ref(TAKEN));
    assert.equal(await asked(() => services.create(serviceOf(TAKEN, { type: 'ClusterIP' }))), 0);
    // It becomes one that would need the name.
    const merge = (body: object) => ({ type: 'merge', body }) as const;
    await refused(services.patch(ref(TAKEN), merge({ spec: { type: 'LoadBalancer' } })));

    // Only what it asks for is asked about: ports, annotations; not labels, finalizers or status.
    const answered = (): readonly string[] =>
      program
        .log()
        .split('\n')
        .filter((line) => line.includes('Webhook answered'));
    assert.equal(await asked(() => services.create(serviceOf('web'))), 1, answered().slice(-5).join('\n'));
    const change = (body: object): Promise<number> => asked(() => services.patch(ref('web'), merge(body)));
    assert.equal(await change({ metadata: { labels: { a: 'b' } } }), 0);
    assert.equal(await change({ metadata: { annotations: { a: 'b' } } }), 1);
    assert.equal(await change({ spec: { ports: [{ port: 81, protocol: 'TCP' }] } }), 1);
    assert.equal(await change({ metadata: { finalizers: ['example.com/wait'] } }), 0);
    const status = merge({ status: { loadBalancer: { ingress: [{ ip: '192.0.2.1' }] } } });
    assert.equal(await asked(() => services.patch(ref('web'), status, { subresource: 'status' })), 0);
    assert.equal((await services.get(ref('web'))).status?.loadBalancer?.ingress?.length, 1);
    // What is on its way out is held up by nobody.
    assert.equal(await asked(() => services.delete(ref('web'))), 0);
    assert.equal(await change({ metadata: { finalizers: null }, spec: { ports: [{ port: 82, protocol: 'TCP' }] } }), 0);

    // What may still come true, and what the cloud cannot say, is told and stored.
    cloud.configure({ quota: { parts: 3 } });
    assert.equal(await asked(() => services.create(serviceOf('large'))), 1);
    assert.match(warnings.join(), /the quota leaves room for 2 more parts/u);
    cloud.setFaults([{ operation: QUOTA, effect: 'status', status: 500 }]);
    assert.ok((await asked(() => services.create(serviceOf('unknown')))) >= 1);
    assert.match(warnings.join(), /the cloud memory could not be asked about the Service: .*\(unavailable\)/u);
    cloud.setFaults([{ operation: QUOTA, effect: 'hang' }]);
    await services.create(serviceOf('slow'));
    assert.match(warnings.join(), /could not be asked about the Service|admitted unchanged/u);
    assert.doesNotMatch(program.log(), /"Webhook request failed"/u);
  }

  // The webhook is gone, and its configuration is still there.
  await services.create(serviceOf('alone'));
  assert.equal((await services.get(ref('alone'))).metadata?.name, 'alone');
});
