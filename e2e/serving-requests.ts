/** Certificate requests as kubelets make them, and the authority that signs them for kube-controller-manager. */
import 'reflect-metadata';
import { webcrypto } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import * as x509 from '@peculiar/x509';
import { resources, type CertificateSigningRequest, type ResourceClient } from '@outrigger/kube';
import { clientOf, type ControlPlane } from '@outrigger/testing';

export const SERVING_SIGNER = 'kubernetes.io/kubelet-serving';
const ALGORITHM = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' } as const;

export interface AskedNames {
  readonly node: string;
  readonly dns: readonly string[];
  readonly ips: readonly string[];
  readonly uris?: readonly string[];
  readonly usages?: NonNullable<CertificateSigningRequest['spec']['usages']>;
}

/** The request as `spec.request` has it, and its private key in PEM. */
export async function servingRequest(asked: AskedNames): Promise<{ readonly request: string; readonly key: string }> {
  const keys = await webcrypto.subtle.generateKey(ALGORITHM, true, ['sign', 'verify']);
  const names: x509.JsonGeneralNames = [
    ...asked.dns.map((value) => ({ type: 'dns' as const, value })),
    ...asked.ips.map((value) => ({ type: 'ip' as const, value })),
    ...(asked.uris ?? []).map((value) => ({ type: 'url' as const, value })),
  ];
  const request = await x509.Pkcs10CertificateRequestGenerator.create({
    name: [{ O: ['system:nodes'] }, { CN: [`system:node:${asked.node}`] }],
    keys,
    signingAlgorithm: ALGORITHM,
    extensions: [new x509.SubjectAlternativeNameExtension(names)],
  });
  return {
    request: Buffer.from(`${request.toString('pem')}\n`).toString('base64'),
    key: await privateKey(keys.privateKey),
  };
}

/** As somebody who may write them: by default the kubelet of the node. */
export async function requestsAs(
  controlPlane: ControlPlane,
  owned: AsyncDisposableStack,
  { user, groups = ['system:nodes'] }: { readonly user: string; readonly groups?: readonly string[] },
): Promise<ResourceClient<CertificateSigningRequest>> {
  const { path } = await controlPlane.kubeconfigFor({ user, groups });
  const client = owned.use(await clientOf(path));
  return client.of(resources.certificateSigningRequests);
}

/** Makes the object, as a kubelet does. Resolves with the private key, PEM. */
export async function askFor(
  requests: ResourceClient<CertificateSigningRequest>,
  name: string,
  asked: AskedNames,
): Promise<string> {
  const { key, request } = await servingRequest(asked);
  await requests.create({
    apiVersion: 'certificates.k8s.io/v1',
    kind: 'CertificateSigningRequest',
    metadata: { name },
    spec: { signerName: SERVING_SIGNER, request, usages: asked.usages ?? ['digital signature', 'server auth'] },
  });
  return key;
}

export interface SigningAuthority {
  /** PEM. */
  readonly certificate: string;
  readonly certificateFile: string;
  /** With which kube-controller-manager signs the certificates of kubelets by it. */
  readonly flags: Readonly<Record<string, string>>;
}

/** Its files go with the test. */
export async function signingAuthority(t: TestContext): Promise<SigningAuthority> {
  const directory = await mkdtemp(join(tmpdir(), 'kubelet-serving-'));
  t.after(() => rm(directory, { recursive: true, force: true }));
  const { certificate, key } = await makeSigningAuthority();
  const [certificateFile, keyFile] = [join(directory, 'ca.crt'), join(directory, 'ca.key')];
  await writeFile(certificateFile, certificate);
  await writeFile(keyFile, key, { mode: 0o600 });
  const flags = {
    'cluster-signing-kubelet-serving-cert-file': certificateFile,
    'cluster-signing-kubelet-serving-key-file': keyFile,
  };
  return { certificate, certificateFile, flags };
}

/** Certificate and key, PEM. */
async function makeSigningAuthority(): Promise<{ readonly certificate: string; readonly key: string }> {
  const keys = await webcrypto.subtle.generateKey(ALGORITHM, true, ['sign', 'verify']);
  const certificate = await x509.X509CertificateGenerator.createSelfSigned({
    name: [{ CN: ['kubelet-serving-test-ca'] }],
    signingAlgorithm: ALGORITHM,
    keys,
    extensions: [
      new x509.BasicConstraintsExtension(true, undefined, true),
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.keyCertSign | x509.KeyUsageFlags.digitalSignature, true),
    ],
  });
  return { certificate: certificate.toString('pem'), key: await privateKey(keys.privateKey) };
}

async function privateKey(key: webcrypto.CryptoKey): Promise<string> {
  return x509.PemConverter.encode(await webcrypto.subtle.exportKey('pkcs8', key), 'PRIVATE KEY');
}
