/** Real kubelets that ask for their serving certificates: approved by the program, signed, and believed by the API server when it connects to them. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { resources, type CertificateSigningRequest } from '@outrigger/kube';
import { UNINITIALIZED_TAINT } from '@outrigger/testing';
import { kubectl } from '../granted-program.ts';
import { signingAuthority } from '../serving-requests.ts';
import { JudgedCluster } from './judged-cluster.ts';

const SIGNER = 'kubernetes.io/kubelet-serving';

function nameOf({ metadata }: CertificateSigningRequest): string {
  return metadata?.name ?? '';
}

test('kubelets with serverTLSBootstrap, the program as approver, and an API server that verifies kubelets', async (t) => {
  const authority = await signingAuthority(t);
  await using cluster = await JudgedCluster.start({
    'kube-apiserver': { 'kubelet-certificate-authority': authority.certificateFile },
    'kube-controller-manager': authority.flags,
  });
  const { controlPlane, story } = cluster;
  await cluster.startProgram('*,node-ipam-controller,kubelet-serving-approver');
  const requestsOf = async (node: string): Promise<readonly CertificateSigningRequest[]> => {
    const { items } = await story.client.of(resources.certificateSigningRequests).list();
    return items.filter(({ spec }) => spec.signerName === SIGNER && spec.username === `system:node:${node}`);
  };
  /** As `kubectl logs` does: the API server connects to the kubelet, and verifies whom it talks to. */
  const ask = (node: string): Promise<string> =>
    kubectl(controlPlane, ['get', '--raw', `/api/v1/nodes/${node}/proxy/configz`]);

  await t.test('a kubelet gets its certificate, and the API server believes it', async () => {
    await cluster.boot('node-1', '--rotate-server-certificates');
    await cluster.isReady('node-1');
    await story.until('its request is signed', async () =>
      (await requestsOf('node-1')).some(({ status }) => Boolean(status?.certificate)),
    );
    await story.until('the API server asks the kubelet over a verified connection', async () => {
      try {
        return (await ask('node-1')).includes('kubeletconfig');
      } catch {
        return false;
      }
    });
    const denied = (await requestsOf('node-1')).filter(({ status }) =>
      status?.conditions?.some(({ type }) => type === 'Denied'),
    );
    assert.deepEqual(denied, []);
  });

  await t.test('a kubelet that signs its own is not believed', async () => {
    await cluster.boot('node-2');
    await cluster.isReady('node-2');
    await assert.rejects(ask('node-2'), /x509|certificate/u);
    assert.deepEqual(await requestsOf('node-2'), []);
  });

  await t.test('kubectl logs reads from the first kubelet, and not from the second', async () => {
    for (const node of ['node-1', 'node-2']) {
      const spec = {
        nodeName: node,
        automountServiceAccountToken: false,
        containers: [{ name: `runs-on-${node}`, image: 'none' }],
      };
      const pod = { apiVersion: 'v1', kind: 'Pod', metadata: { name: `on-${node}`, namespace: 'default' }, spec };
      await kubectl(controlPlane, ['create', '-f', '-'], JSON.stringify(pod));
    }
    await kubectl(controlPlane, ['wait', '--for=jsonpath={.status.phase}=Running', '--timeout=300s', 'pod', '--all']);
    await story.until('the container has written a line', async () => {
      try {
        return (await kubectl(controlPlane, ['logs', 'on-node-1'])) === 'runs-on-node-1\n';
      } catch (error) {
        assert.doesNotMatch(String(error), /x509|tls:/u);
        return false;
      }
    });
    await assert.rejects(kubectl(controlPlane, ['logs', 'on-node-2']), /failed to verify certificate: x509:/u);
  });

  await t.test('a kubelet whose machine has another name in the cloud gets none', async () => {
    story.cloud.createInstance({
      name: 'database',
      addresses: [
        { type: 'InternalIP', address: '10.0.0.13' },
        { type: 'Hostname', address: 'database' },
      ],
    });
    await cluster.kubelets.start('node-3', '--rotate-server-certificates', '--provider-id=memory://region-1/database');
    await story.until('it has asked', async () => (await requestsOf('node-3')).length > 0);
    await story.until('an Event says why it has to wait', async () => {
      const { items } = await story.client.of(resources.coreEvents).list({ namespace: 'default' });
      return items.some(
        ({ message = '', reason }) => reason === 'ServingCertificatePending' && message.includes('"database"'),
      );
    });
    for (const { status } of await requestsOf('node-3')) assert.equal(status?.certificate, undefined);
  });

  await t.test(
    'a kubelet of a node without a machine in the cloud is left alone, until the node is none any more',
    async () => {
      await cluster.kubelets.stop('node-3');
      await kubectl(controlPlane, ['delete', 'node', 'node-3']);
      await kubectl(controlPlane, ['delete', 'csr', ...(await requestsOf('node-3')).map(nameOf)]);
      story.cloud.deleteInstance('database');
      // It has a machine: nothing but the label keeps the program away.
      await cluster.boot('node-3', '--rotate-server-certificates', '--node-labels=type=virtual-kubelet');
      await story.until('it has asked', async () => (await requestsOf('node-3')).length > 0);
      // What comes later is served: the program had the time.
      await cluster.kubelets.stop('node-2');
      await kubectl(controlPlane, ['delete', 'node', 'node-2']);
      await cluster.kubelets.start('node-2', '--rotate-server-certificates');
      const isSigned = async (node: string): Promise<boolean> =>
        (await requestsOf(node)).some(({ status }) => Boolean(status?.certificate));
      await story.until('the request of node-2 is signed', () => isSigned('node-2'));
      await cluster.isReady('node-2');
      const { spec } = await cluster.node('node-3');
      assert.deepEqual([spec?.providerID, spec?.podCIDR], [undefined, undefined]);
      assert.ok(spec?.taints?.some(({ key }) => key === UNINITIALIZED_TAINT));
      assert.ok(!story.cloud.routes().some(({ nodeName }) => nodeName === 'node-3'));
      for (const { status } of await requestsOf('node-3')) assert.deepEqual(status?.conditions ?? [], []);
      await kubectl(controlPlane, ['label', 'node', 'node-3', 'type-']);
      await cluster.isReady('node-3');
      await story.until('its request is signed', () => isSigned('node-3'));
    },
  );
});
