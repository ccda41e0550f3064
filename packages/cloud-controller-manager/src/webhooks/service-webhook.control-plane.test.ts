import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isStatusError, resources, systemClock, type Service } from '@outrigger/kube';
import { clientOf, controlPlaneOrSkip } from '@outrigger/testing';
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
  const warnings: string[] = [];
  await using client = await clientOf(controlPlane.kubeconfig.path, {
    onWarning: (text) => void warnings.push(text),
  });
  const services = client.of(resources.services);
  const ref = (name: string): { name: string; namespace: string } => ({ name, namespace: 'default' });
  /** Whether the webhook asked the cloud meanwhile. How often is up to the API server, which judges a write again that came too early for its cache. */
  const asked = async (act: () => Promise<unknown>): Promise<boolean> => {
    const before = cloud.calls().byOperation[QUOTA] ?? 0;
    warnings.length = 0;
    await act();
    return (cloud.calls().byOperation[QUOTA] ?? 0) > before;
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
    const answered = (): number => program.log().split('Webhook answered').length - 1;
    const options = { providerName: 'memory', classes: [CLASS], isDefault: true };
    const configuration = serviceWebhookConfiguration(options, listener.clientConfig(SERVICE_WEBHOOK_PATH));
    await register(client, configuration, 'service-webhook.yml');
    // The API server hears of its own object some time later.
    let tries = 0;
    await until('the webhook is called', async () => {
      return asked(() => services.create(serviceOf(`probe-${tries++}`)));
    });

    // What cannot be is refused, of which class it says it is; what is not of this cloud is not asked about.
    await refused(services.create(serviceOf(TAKEN)));
    await refused(services.create(serviceOf(TAKEN, { loadBalancerClass: CLASS })));
    const otherClass = serviceOf(TAKEN, { loadBalancerClass: 'other.example/lb' });
    assert.equal(await asked(() => services.create(otherClass)), false);
    await services.delete(ref(TAKEN));
    assert.equal(await asked(() => services.create(serviceOf(TAKEN, { type: 'ClusterIP' }))), false);
    // It becomes one that would need the name.
    const merge = (body: object) => ({ type: 'merge', body }) as const;
    await refused(services.patch(ref(TAKEN), merge({ spec: { type: 'LoadBalancer' } })));

    // Only what it asks for is asked about: ports, annotations; not labels, finalizers or status.
    const [reviewsBefore, questionsBefore] = [answered(), cloud.calls().byOperation[QUOTA] ?? 0];
    assert.equal(await asked(() => services.create(serviceOf('web'))), true);
    const change = (body: object): Promise<boolean> => asked(() => services.patch(ref('web'), merge(body)));
    assert.equal(await change({ metadata: { labels: { a: 'b' } } }), false);
    assert.equal(await change({ metadata: { annotations: { a: 'b' } } }), true);
    assert.equal(await change({ spec: { ports: [{ port: 81, protocol: 'TCP' }] } }), true);
    assert.equal(await change({ metadata: { finalizers: ['example.com/wait'] } }), false);
    const status = merge({ status: { loadBalancer: { ingress: [{ ip: '192.0.2.1' }] } } });
    assert.equal(await asked(() => services.patch(ref('web'), status, { subresource: 'status' })), false);
    assert.equal((await services.get(ref('web'))).status?.loadBalancer?.ingress?.length, 1);
    // What is on its way out is held up by nobody.
    assert.equal(await asked(() => services.delete(ref('web'))), false);
    // Before its cache has heard of it, the API server judges a change by the Service as it was.
    await until('the API server knows that it is on its way out', async () => {
      const { items } = await services.list({ namespace: 'default', resourceVersion: '0' });
      return items.some(({ metadata }) => metadata?.name === 'web' && metadata.deletionTimestamp !== undefined);
    });
    assert.equal(
      await change({ metadata: { finalizers: null }, spec: { ports: [{ port: 82, protocol: 'TCP' }] } }),
      false,
    );
    const questions = (cloud.calls().byOperation[QUOTA] ?? 0) - questionsBefore;
    assert.equal(questions, answered() - reviewsBefore, 'one question for each review');

    // What may still come true, and what the cloud cannot say, is told and stored.
    cloud.configure({ quota: { parts: 3 } });
    assert.equal(await asked(() => services.create(serviceOf('large'))), true);
    assert.match(warnings.join(), /the quota leaves room for 2 more parts/u);
    // Not one that is asked again: the pauses of a slow machine could take all the time for the answer.
    cloud.setFaults([{ operation: QUOTA, effect: 'status', status: 403 }]);
    assert.equal(await asked(() => services.create(serviceOf('unknown'))), true);
    assert.match(warnings.join(), /the cloud memory could not be asked about the Service: .*\(forbidden\)/u);
    cloud.setFaults([{ operation: QUOTA, effect: 'hang' }]);
    await services.create(serviceOf('slow'));
    assert.match(warnings.join(), /could not be asked about the Service|admitted unchanged/u);
    assert.doesNotMatch(program.log(), /"Webhook request failed"/u);
  }

  // The webhook is gone, and its configuration is still there.
  await services.create(serviceOf('alone'));
  assert.equal((await services.get(ref('alone'))).metadata?.name, 'alone');
});
