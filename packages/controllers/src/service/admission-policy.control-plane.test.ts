import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  createClient,
  createTransport,
  isInvalid,
  loadConfig,
  resources,
  systemClock,
  type KubeObject,
  type Resource,
  type Service,
} from '@outrigger/kube';
import { createMemoryCloud } from '@outrigger/provider-memory';
import { controlPlaneOrSkip } from '@outrigger/testing';
import { admissionPolicyOf, featureTableOf } from './admission-policy.ts';
import { openLoadBalancers } from './memory-provider.suite.ts';

const resourceOf = (kind: string, plural: string): Resource => ({
  group: 'admissionregistration.k8s.io',
  version: 'v1',
  plural,
  kind,
  namespaced: false,
});
const policies = resourceOf('ValidatingAdmissionPolicy', 'validatingadmissionpolicies');
const bindings = resourceOf('ValidatingAdmissionPolicyBinding', 'validatingadmissionpolicybindings');

const wanted = (name: string, spec: Partial<NonNullable<Service['spec']>>): Service => ({
  metadata: { name, namespace: 'default' },
  spec: { type: 'LoadBalancer', ports: [{ port: 80 }], selector: { a: 'b' }, ...spec },
});

test('the API server refuses what the provider does not declare, and takes all else', async (t) => {
  const controlPlane = await controlPlaneOrSkip(t);
  if (!controlPlane) return;
  const transport = createTransport(await loadConfig({ kubeconfig: controlPlane.kubeconfig.path }));
  t.after(() => transport[Symbol.asyncDispose]());
  const client = createClient(transport);
  const provider = await openLoadBalancers(createMemoryCloud({ clock: systemClock, random: () => 0.5 }), systemClock);
  const [policy, binding] = admissionPolicyOf(provider, { providerName: 'memory' }) as [KubeObject, KubeObject];
  await client.of(policies).create(policy);
  await client.of(bindings).create(binding);
  const services = client.of(resources.services);
  const refused: readonly (readonly [Partial<NonNullable<Service['spec']>>, RegExp])[] = [
    [{ ports: [{ port: 80, protocol: 'SCTP' }] }, /does not serve protocol SCTP/],
    [{ sessionAffinity: 'ClientIP' }, /does not serve sessionAffinity: ClientIP/],
    [{ allocateLoadBalancerNodePorts: false }, /does not serve allocateLoadBalancerNodePorts: false/],
    [{ loadBalancerIP: '192.0.2.1' }, /does not serve loadBalancerIP/],
    [{ loadBalancerClass: 'outrigger.dev/memory', sessionAffinity: 'ClientIP' }, /sessionAffinity/],
  ];
  // The API server takes a moment to learn of a policy.
  const deadline = systemClock.monotonic() + 60_000;
  for (let i = 0; ; i++) {
    const error: unknown = await services.create(wanted(`probe-${i}`, { sessionAffinity: 'ClientIP' })).then(
      () => undefined,
      (thrown: unknown) => thrown,
    );
    if (error !== undefined) break;
    assert.ok(systemClock.monotonic() < deadline, 'the policy is in force within 60 s');
    await systemClock.sleep(200);
  }
  for (const [spec, message] of refused) {
    await assert.rejects(services.create(wanted('refused', spec)), (error) => {
      assert.ok(isInvalid(error));
      assert.match(error.message, message);
      return true;
    });
  }
  const taken: readonly Partial<NonNullable<Service['spec']>>[] = [
    {},
    {
      ports: [
        { name: 'a', port: 53, protocol: 'UDP' },
        { name: 'b', port: 53, protocol: 'TCP' },
      ],
    },
    { externalTrafficPolicy: 'Local', loadBalancerSourceRanges: ['10.0.0.0/8'] },
    { loadBalancerClass: 'example.com/other', sessionAffinity: 'ClientIP' },
    { type: 'ClusterIP', sessionAffinity: 'ClientIP' },
  ];
  for (const [i, spec] of taken.entries()) await services.create(wanted(`taken-${i}`, spec));
});

test('the table says what is served, in the words of the policy', async () => {
  const { features } = await openLoadBalancers(
    createMemoryCloud({ clock: systemClock, random: () => 0.5 }),
    systemClock,
  );
  const table = featureTableOf(features);
  assert.match(table, /\| protocol UDP \| yes \|/);
  assert.match(table, /\| protocol SCTP \| refused \|/);
});
