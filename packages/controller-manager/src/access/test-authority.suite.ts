/** Certificates for tests of who is trusted. */
import 'reflect-metadata';
import { webcrypto, X509Certificate } from 'node:crypto';
import * as x509 from '@peculiar/x509';
import { systemClock } from '@outrigger/kube';

const ALGORITHM = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' };
const HOUR_MS = 3_600_000;

interface Issued {
  readonly certificate: X509Certificate;
  /** PEM. */
  readonly pem: string;
  /** PEM. */
  readonly key: string;
}

export interface IssueOptions {
  readonly ca?: boolean;
  readonly usage?: 'client' | 'server';
  readonly expired?: boolean;
  /** In milliseconds since the Unix epoch. Default: about now. */
  readonly valid?: readonly [from: number, to: number];
  /** DNS names. Default: 127.0.0.1 alone. */
  readonly names?: readonly string[];
}

/** Something that signs: an authority, or anybody with a key. */
export class TestAuthority implements Issued {
  readonly pem: string;
  readonly key: string;
  readonly certificate: X509Certificate;
  readonly #keys: webcrypto.CryptoKeyPair;
  readonly #subject: string;

  private constructor(subject: string, keys: webcrypto.CryptoKeyPair, pem: string, key: string) {
    this.#subject = subject;
    this.#keys = keys;
    this.pem = pem;
    this.key = key;
    this.certificate = new X509Certificate(pem);
  }

  static async create(subject: string, options: IssueOptions = {}): Promise<TestAuthority> {
    const keys = await webcrypto.subtle.generateKey(ALGORITHM, true, ['sign', 'verify']);
    return TestAuthority.#make(subject, { ca: true, ...options }, keys, { subject, keys });
  }

  /** `subject`: `CN=me,O=group`. */
  async issue(subject: string, options: IssueOptions = {}): Promise<TestAuthority> {
    const keys = await webcrypto.subtle.generateKey(ALGORITHM, true, ['sign', 'verify']);
    return TestAuthority.#make(subject, options, keys, { subject: this.#subject, keys: this.#keys });
  }

  static async #make(
    subject: string,
    { ca = false, expired = false, names, usage = 'client', valid }: IssueOptions,
    keys: webcrypto.CryptoKeyPair,
    issuer: { readonly subject: string; readonly keys: webcrypto.CryptoKeyPair },
  ): Promise<TestAuthority> {
    const now = systemClock.now();
    const [from, to] = valid ?? [now - 2 * HOUR_MS, now + (expired ? -HOUR_MS : HOUR_MS)];
    const certificate = await x509.X509CertificateGenerator.create({
      subject,
      issuer: issuer.subject,
      notBefore: new Date(from),
      notAfter: new Date(to),
      signingAlgorithm: ALGORITHM,
      publicKey: keys.publicKey,
      signingKey: issuer.keys.privateKey,
      extensions: ca
        ? [new x509.BasicConstraintsExtension(true, undefined, true)]
        : [
            new x509.SubjectAlternativeNameExtension(
              names?.map((value) => ({ type: 'dns', value })) ?? [{ type: 'ip', value: '127.0.0.1' }],
            ),
            new x509.ExtendedKeyUsageExtension([
              usage === 'client' ? x509.ExtendedKeyUsage.clientAuth : x509.ExtendedKeyUsage.serverAuth,
            ]),
          ],
    });
    const pkcs8 = Buffer.from(await webcrypto.subtle.exportKey('pkcs8', keys.privateKey)).toString('base64');
    const key = `-----BEGIN PRIVATE KEY-----\n${pkcs8.replaceAll(/.{64}/gu, '$&\n')}\n-----END PRIVATE KEY-----\n`;
    return new TestAuthority(subject, keys, `${certificate.toString('pem')}\n`, key);
  }
}
