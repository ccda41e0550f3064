/** What the guide for multi-tenant clusters leaves to ResourceQuota is held by the API server. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { isForbidden, resources, type KubeObject, type Resource, type Service } from '@outrigger/kube';
import { clientOf, sharedControlPlane } from '@outrigger/testing';

const shared = sharedControlPlane(after);
const quotas: Resource = {
  group: '',
  version: 'v1',
  plural: 'resourcequotas',
  kind: 'ResourceQuota',
  namespaced: true,
};

const serviceOf = (name: string, type: 'ClusterIP' | 'LoadBalancer'): Service => ({
  metadata: { name, namespace: 'default' },
  spec: { type, ports: [{ port: 80 }], selector: { a: 'b' } },
});

test('a namespace gets no more Services, and no more load balancers, than its ResourceQuota says', async (t) => {
  const controlPlane = await shared(t);
  if (!controlPlane) return;
  await using client = await clientOf(controlPlane.kubeconfig.path);
  const services = client.of(resources.services);
  const have = (await services.list({ namespace: 'default' })).items.length;
  const hard = { 'count/services': String(have + 2), 'services.loadbalancers': '1' };
  const quota: KubeObject = await client.of(quotas).create({
    metadata: { name: 'tenant', namespace: 'default' },
    spec: { hard },
  } as KubeObject);
  // In place of the controller of kube-controller-manager, which would count them.
  const status = { hard, used: { 'count/services': String(have), 'services.loadbalancers': '0' } };
  await client.of(quotas).update({ ...quota, status } as KubeObject, { subresource: 'status' });
  await services.create(serviceOf('first', 'LoadBalancer'));
  const refused = (limit: string) => (error: unknown) => {
    assert.ok(isForbidden(error));
    assert.match(error.message, new RegExp(`exceeded quota: tenant.*limited: ${limit}=`));
    return true;
  };
  await assert.rejects(services.create(serviceOf('second', 'LoadBalancer')), refused('services.loadbalancers'));
  await services.create(serviceOf('second', 'ClusterIP'));
  await assert.rejects(services.create(serviceOf('third', 'ClusterIP')), refused('count/services'));
});
