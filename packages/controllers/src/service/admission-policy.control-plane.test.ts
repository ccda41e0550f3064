import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { loadBalancerOwnerAnnotation } from '@outrigger/cloud-provider';
import {
  isInvalid,
  isNotFound,
  resources,
  systemClock,
  type KubeObject,
  type Resource,
  type Service,
} from '@outrigger/kube';
import { createMemoryCloud } from '@outrigger/provider-memory';
import { clientOf, sharedControlPlane } from '@outrigger/testing';
import { admissionPolicyOf, featureTableOf, trustPolicyOf } from './admission-policy.ts';
import { openLoadBalancers } from '../load-balancer/memory-provider.suite.ts';

const shared = sharedControlPlane(after);

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
  const controlPlane = await shared(t);
  if (!controlPlane) return;
  await using client = await clientOf(controlPlane.kubeconfig.path);
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
  const deadline = systemClock.monotonic() + 180_000;
  for (let i = 0; ; i++) {
    const error: unknown = await services.create(wanted(`probe-${i}`, { sessionAffinity: 'ClientIP' })).then(
      () => undefined,
      (thrown: unknown) => thrown,
    );
    if (error !== undefined) break;
    assert.ok(systemClock.monotonic() < deadline, 'the policy is in force within 180 s');
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

test('the API server takes what names things of the cloud from Services of trusted namespaces alone', async (t) => {
  const controlPlane = await shared(t);
  if (!controlPlane) return;
  await using client = await clientOf(controlPlane.kubeconfig.path);
  const services = client.of(resources.services);
  await client.of(resources.namespaces).create({ metadata: { name: 'trusted' } });
  const named = { 'cloud.test/lb-id': 'lb-1' };
  const spec: Service['spec'] = { type: 'LoadBalancer', ports: [{ port: 80 }], selector: { a: 'b' } };
  const annotated = (name: string, annotations: Record<string, string>, namespace = 'default'): Service => ({
    metadata: { name, namespace, annotations },
    spec,
  });
  await services.create(annotated('before', named));
  const held = ['example.com/held'];
  const owned = annotated('before-of-other', { ...named, [loadBalancerOwnerAnnotation]: 'other' });
  await services.create({ ...owned, metadata: { ...owned.metadata, finalizers: held } });
  const provider = await openLoadBalancers(createMemoryCloud({ clock: systemClock, random: () => 0.5 }), systemClock);
  const declared = {
    classes: provider.classes,
    features: { ...provider.features, requestedIP: true },
    annotations: [
      { name: 'cloud.test/lb-id', description: '', values: 'string', dangerous: 'uses the load balancer of others' },
      { name: 'cloud.test/timeout', description: '', values: 'integer' },
    ],
  } as const;
  const options = { providerName: 'memory', trustedNamespaces: ['trusted'] };
  const [policy, binding] = trustPolicyOf(declared, options) as [KubeObject, KubeObject];
  await client.of(policies).create(policy);
  await client.of(bindings).create(binding);
  const refusalOf = (write: Promise<unknown>): Promise<string> =>
    write.then(
      () => '',
      (error: unknown) => String(error),
    );
  const deadline = systemClock.monotonic() + 180_000;
  for (let i = 0; (await refusalOf(services.create(annotated(`probe-${i}`, named)))) === ''; i++) {
    assert.ok(systemClock.monotonic() < deadline, 'the policy is in force within 180 s');
    await systemClock.sleep(200);
  }
  const patch = (name: string, body: object): Promise<string> =>
    refusalOf(services.patch({ namespace: 'default', name }, { type: 'merge', body }));
  const write = (service: Service): Promise<string> => refusalOf(services.create(service));
  const denied = /may not have the annotation cloud\.test\/lb-id, which uses the load balancer of others/u;
  assert.match(await write(annotated('new', named)), denied);
  const asking = annotated('address', {});
  assert.match(
    await write({ ...asking, spec: { ...spec, loadBalancerIP: '192.0.2.1' } }),
    /may not have loadBalancerIP/u,
  );
  assert.equal(await write(annotated('trusted', named, 'trusted')), '');
  assert.equal(await write(annotated('harmless', { 'cloud.test/timeout': '5' })), '');
  assert.match(await patch('harmless', { metadata: { annotations: named } }), denied);
  // What was there before may stay, or go, and not become another.
  assert.equal(await patch('before', { metadata: { labels: { a: 'b' } } }), '');
  assert.match(await patch('before', { metadata: { annotations: { 'cloud.test/lb-id': 'lb-2' } } }), denied);
  assert.equal(await patch('before', { metadata: { annotations: { 'cloud.test/lb-id': null } } }), '');
  assert.match(await patch('before', { metadata: { annotations: named } }), denied);
  // Nor by way of another type.
  assert.equal(await write({ ...annotated('inside', named), spec: { ...spec, type: 'ClusterIP' } }), '');
  assert.match(await patch('inside', { spec: { type: 'LoadBalancer' } }), denied);
  // Whose Service it is, which decides who takes a stale address out of its status.
  const recorded = (value: string | null): object => ({
    metadata: { annotations: { [loadBalancerOwnerAnnotation]: value } },
  });
  assert.equal(await patch('harmless', recorded('memory')), '');
  assert.match(await patch('harmless', recorded('other')), /with another provider than memory/u);
  assert.match(await patch('harmless', recorded('')), /with another provider than memory/u);
  assert.equal(await patch('harmless', recorded(null)), '');
  // On its way out it is still left alone by whom it is not of; nothing else is held up, least of all its end.
  const going = annotated('going', {});
  assert.equal(await write({ ...going, metadata: { ...going.metadata, finalizers: held } }), '');
  for (const name of ['going', 'before-of-other']) await services.delete({ namespace: 'default', name });
  for (const other of ['other', '']) {
    assert.match(await patch('going', recorded(other)), /with another provider than memory/u);
  }
  assert.equal(await patch('going', recorded('memory')), '');
  assert.equal(await patch('going', { metadata: { annotations: { ...named, 'cloud.test/timeout': '5' } } }), '');
  for (const name of ['going', 'before-of-other']) {
    assert.equal(await patch(name, { metadata: { finalizers: null } }), '');
    assert.ok(isNotFound(await services.get({ namespace: 'default', name }).catch((error: unknown) => error)));
  }
  // The controller's own write.
  const status = { type: 'merge', body: { metadata: { annotations: named } } } as const;
  const harmless = { namespace: 'default', name: 'harmless' };
  assert.equal(await refusalOf(services.patch(harmless, status, { subresource: 'status' })), '');
  assert.equal(await patch('harmless', { spec: { selector: { a: 'c' } } }), '');
});
