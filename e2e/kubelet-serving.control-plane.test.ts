/** Serving certificates of kubelets: asked for as kubelets do, approved by the program with the rights that it asks for, signed by kube-controller-manager. */
import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import { connect, createServer } from 'node:tls';
import { test } from 'node:test';
import { resources, type CertificateSigningRequest } from '@outrigger/kube';
import { compareAccess, controlPlaneOrSkip } from '@outrigger/testing';
import { CloudStory, STORY_FLAGS } from './cloud-story.ts';
import { grantedTo } from './granted-program.ts';
import { askFor, requestsAs, servingRequest, signingAuthority } from './serving-requests.ts';

const ACCOUNT = 'approver';

/** A connection to who serves with this certificate, checked as the API server does before it asks for logs. */
async function isVerified(certificate: string, key: string, authority: string, servername: string): Promise<void> {
  const server = createServer({ cert: certificate, key }, (socket) => void socket.end('log line'));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  try {
    const { port } = server.address() as { port: number };
    const socket = connect({ host: '127.0.0.1', port, ca: authority, servername });
    await once(socket, 'secureConnect');
    assert.equal(socket.authorized, true);
    socket.destroy();
  } finally {
    server.close();
  }
}

test('the program approves what the cloud confirms, kube-controller-manager signs it, and nothing else is signed', async (t) => {
  const authority = await signingAuthority(t);
  const controlPlane = await controlPlaneOrSkip(t, {
    kubectl: true,
    kubeControllerManager: true,
    flags: { 'kube-controller-manager': authority.flags },
  });
  if (!controlPlane) return;
  await using owned = new AsyncDisposableStack();
  const story = owned.use(await CloudStory.open(controlPlane));
  await story.run(ACCOUNT, [...STORY_FLAGS, '--controllers=*,kubelet-serving']);

  await Promise.all(['n1', 'n2'].map((name) => story.join(name)));
  await Promise.all(['n1', 'n2'].map((name) => story.isInitialised(name)));
  const addressOf = (name: string): string => {
    const { addresses = [] } = story.cloud.instances().find((one) => one.name === name) ?? {};
    return addresses.find(({ type }) => type === 'InternalIP')?.address ?? '';
  };
  const [first, second] = await Promise.all(
    ['n1', 'n2'].map((name) => requestsAs(controlPlane, owned, { user: `system:node:${name}` })),
  );
  assert.ok(first && second);
  const admin = story.client.of(resources.certificateSigningRequests);
  const get = (name: string): Promise<CertificateSigningRequest> => admin.get({ name });
  const conditionOf = async (name: string): Promise<string> =>
    (await get(name)).status?.conditions?.map(({ type }) => type).join() ?? 'pending';

  const own = { node: 'n1', dns: ['n1'], ips: [addressOf('n1')] };
  const key = await askFor(first, 'honest', own);
  await story.until('the certificate is signed', async () => Boolean((await get('honest')).status?.certificate));
  const pem = Buffer.from((await get('honest')).status?.certificate ?? '', 'base64').toString();
  const certificate = new X509Certificate(pem);
  assert.ok(certificate.verify(new X509Certificate(authority.certificate).publicKey));
  assert.equal(certificate.subject, 'O=system:nodes\nCN=system:node:n1');
  assert.equal(certificate.checkIP(addressOf('n1')), addressOf('n1'));
  await isVerified(pem, key, authority.certificate, 'n1');
  await assert.rejects(isVerified(pem, key, authority.certificate, 'n2'));

  await askFor(first, 'address-of-another', { ...own, ips: [addressOf('n2')] });
  await askFor(first, 'name-of-another', { ...own, dns: ['n2'] });
  await askFor(first, 'wildcard', { ...own, dns: ['*.n1'] });
  await askFor(first, 'uri', { ...own, uris: ['spiffe://cluster/n1'] });
  await askFor(first, 'subject-of-another', { ...own, node: 'n2' });
  await askFor(second, 'second-for-first', own);
  await askFor(first, 'client', { ...own, usages: ['digital signature', 'client auth'] });
  const denied = [
    'address-of-another',
    'name-of-another',
    'wildcard',
    'uri',
    'subject-of-another',
    'second-for-first',
    'client',
  ];
  for (const name of denied) await story.until(`${name} is denied`, async () => (await conditionOf(name)) === 'Denied');
  await story.until('an Event says so', async () => {
    const { items } = await story.client.of(resources.coreEvents).list({ namespace: 'default' });
    return items.some(
      ({ reason, involvedObject }) => reason === 'ServingCertificateDenied' && involvedObject.name === 'n1',
    );
  });

  // A node that is not there yet: nothing is concluded, and it is approved when it is.
  const third = await requestsAs(controlPlane, owned, { user: 'system:node:n3' });
  await askFor(third, 'early', { node: 'n3', dns: ['n3'], ips: [] });
  assert.equal(await conditionOf('early'), 'pending');
  await story.join('n3');
  await story.until('the early request is approved', async () => (await conditionOf('early')) === 'Approved');
  for (const name of denied) assert.equal((await get(name)).status?.certificate, undefined);

  // What it was granted suffices, and is for the one signer: who has its token makes no other certificates with it.
  const { forbidden } = compareAccess({
    objects: await grantedTo(controlPlane, ACCOUNT),
    entries: await controlPlane.auditLog.requests(),
    account: { namespace: 'kube-system', name: ACCOUNT },
  });
  assert.deepEqual(forbidden, []);
  const { request } = await servingRequest(own);
  const signerName = 'kubernetes.io/kube-apiserver-client';
  await admin.create({
    apiVersion: 'certificates.k8s.io/v1',
    kind: 'CertificateSigningRequest',
    metadata: { name: 'of-another-signer' },
    spec: { signerName, request, usages: ['client auth'] },
  });
  const approved = { type: 'Approved', status: 'True', reason: 'Theft', message: '' };
  const user = `system:serviceaccount:kube-system:${ACCOUNT}`;
  const asProgram = await requestsAs(controlPlane, owned, { user, groups: [] });
  const approve = { type: 'merge', body: { status: { conditions: [approved] } } } as const;
  await assert.rejects(
    asProgram.patch({ name: 'of-another-signer' }, approve, { subresource: 'approval' }),
    /user not permitted to approve requests with signerName/u,
  );
});
