/** Certificates for the tests of the transport: one authority, and what it signs. */
import { webcrypto } from 'node:crypto';
import 'reflect-metadata';
import * as x509 from '@peculiar/x509';

const ALGORITHM = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' };
const DAY_MS = 86_400_000;

export interface IssuedCertificate {
  /** PEM. */
  readonly certificate: string;
  /** PEM. */
  readonly key: string;
}

export interface TestAuthority {
  /** PEM. */
  readonly ca: string;
  /** An authority that this one has signed. */
  intermediate(name: string): Promise<TestAuthority>;
  issue(options: {
    readonly name: string;
    /** Default: 127.0.0.1 and localhost. */
    readonly hosts?: readonly string[];
    /** Default: tomorrow. */
    readonly notAfter?: Date;
  }): Promise<IssuedCertificate>;
}

async function keyPair(): Promise<webcrypto.CryptoKeyPair> {
  return webcrypto.subtle.generateKey(ALGORITHM, true, ['sign', 'verify']);
}

async function pemOf(key: webcrypto.CryptoKey): Promise<string> {
  return x509.PemConverter.encode(await webcrypto.subtle.exportKey('pkcs8', key), 'PRIVATE KEY');
}

const notBefore = new Date(Date.now() - 2 * DAY_MS);
const tomorrow = new Date(Date.now() + DAY_MS);

export async function createTestAuthority(name = 'test-ca'): Promise<TestAuthority> {
  x509.cryptoProvider.set(webcrypto as never);
  const keys = await keyPair();
  const ca = await x509.X509CertificateGenerator.createSelfSigned({
    serialNumber: '01',
    name: `CN=${name}`,
    notBefore,
    notAfter: tomorrow,
    signingAlgorithm: ALGORITHM,
    keys: keys as never,
    extensions: [new x509.BasicConstraintsExtension(true, undefined, true)],
  });
  return authorityOf(ca, keys);
}

function authorityOf(ca: x509.X509Certificate, keys: webcrypto.CryptoKeyPair): TestAuthority {
  let serial = 1;
  const sign = (
    subject: string,
    own: webcrypto.CryptoKeyPair,
    notAfter: Date,
    extension: x509.Extension,
  ): Promise<x509.X509Certificate> => {
    serial += 1;
    return x509.X509CertificateGenerator.create({
      serialNumber: serial.toString(16).padStart(2, '0'),
      subject: `CN=${subject}`,
      issuer: ca.subject,
      notBefore,
      notAfter,
      signingAlgorithm: ALGORITHM,
      publicKey: own.publicKey as never,
      signingKey: keys.privateKey as never,
      extensions: [extension],
    });
  };
  return {
    ca: ca.toString('pem'),
    intermediate: async (name) => {
      const own = await keyPair();
      return authorityOf(await sign(name, own, tomorrow, new x509.BasicConstraintsExtension(true, 0, true)), own);
    },
    issue: async ({ name: subject, hosts = ['127.0.0.1', 'localhost'], notAfter = tomorrow }) => {
      const own = await keyPair();
      const names = new x509.SubjectAlternativeNameExtension(
        hosts.map((value) => ({ type: /^[\d.]+$/.test(value) ? 'ip' : 'dns', value })),
      );
      const certificate = await sign(subject, own, notAfter, names);
      return { certificate: certificate.toString('pem'), key: await pemOf(own.privateKey) };
    },
  };
}
