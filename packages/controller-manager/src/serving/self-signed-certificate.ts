/** A certificate for the time being: made at the start when none is given, kept in memory, gone with the process. */
import { webcrypto } from 'node:crypto';
import { isIP } from 'node:net';
import type { Clock } from '@outrigger/kube';
import 'reflect-metadata/lite';
import * as x509 from '@peculiar/x509';

export interface ServingCertificate {
  /** PEM, with the chain. */
  readonly cert: string;
  /** PEM. */
  readonly key: string;
  /** For the time being. */
  readonly isSelfSigned?: boolean;
}

const DAY_MS = 86_400_000;

/** For `localhost`, the loopback addresses and `hosts`; EC P-256, valid for a year from a day ago. */
export async function makeSelfSignedCertificate(clock: Clock, hosts: readonly string[]): Promise<ServingCertificate> {
  const algorithm = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' };
  const keys = await webcrypto.subtle.generateKey(algorithm, true, ['sign', 'verify']);
  const names = [...new Set(['localhost', '127.0.0.1', '::1', ...hosts])];
  const certificate = await x509.X509CertificateGenerator.createSelfSigned({
    name: 'CN=outrigger-self-signed',
    notBefore: new Date(clock.now() - DAY_MS),
    notAfter: new Date(clock.now() + 365 * DAY_MS),
    signingAlgorithm: algorithm,
    keys,
    extensions: [
      new x509.SubjectAlternativeNameExtension(
        names.map((value) => ({ type: isIP(value) === 0 ? 'dns' : 'ip', value })),
      ),
      new x509.ExtendedKeyUsageExtension([x509.ExtendedKeyUsage.serverAuth]),
    ],
  });
  const key = Buffer.from(await webcrypto.subtle.exportKey('pkcs8', keys.privateKey)).toString('base64');
  return {
    isSelfSigned: true,
    cert: certificate.toString('pem'),
    key: `-----BEGIN PRIVATE KEY-----\n${key.replaceAll(/.{64}/gu, '$&\n')}\n-----END PRIVATE KEY-----\n`,
  };
}
