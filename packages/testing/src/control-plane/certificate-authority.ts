/** Certificates of a control plane: one authority, which signs the serving certificate and a client certificate for any user. */
// The library's dependency injection asks for it, and leaves it to the program to bring it.
import 'reflect-metadata';
import { webcrypto } from 'node:crypto';
import * as x509 from '@peculiar/x509';

const ALGORITHM = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' } as const;
const DAY_MS = 86_400_000;
/** Ten years: no test outlives its certificates, not even one that sets the clock forward. */
const LIFETIME_MS = 3_650 * DAY_MS;

/** PEM text of a certificate and its PKCS #8 private key. */
export interface CertificateAndKey {
  readonly certificate: string;
  readonly key: string;
}

/** Who a client certificate stands for: Kubernetes reads the user from CN and the groups from O. */
export interface Identity {
  readonly user: string;
  readonly groups?: readonly string[];
}

export interface ServingNames {
  readonly dns: readonly string[];
  readonly ips: readonly string[];
}

/** A self-signed authority that lives in memory. Elliptic-curve keys: RSA would cost a second per control plane. */
export class CertificateAuthority {
  /** PEM text. */
  readonly certificate: string;
  readonly #root: x509.X509Certificate;
  readonly #keys: webcrypto.CryptoKeyPair;
  readonly #now: number;

  private constructor(root: x509.X509Certificate, keys: webcrypto.CryptoKeyPair, now: number) {
    this.#root = root;
    this.#keys = keys;
    this.#now = now;
    this.certificate = root.toString('pem');
  }

  /** `now`: milliseconds since the Unix epoch. Certificates are valid from a day before. */
  static async create(now: number): Promise<CertificateAuthority> {
    const keys = await generateKeys();
    const root = await x509.X509CertificateGenerator.createSelfSigned({
      name: [{ CN: ['outrigger-test-ca'] }],
      serialNumber: serialNumber(),
      ...validity(now),
      signingAlgorithm: ALGORITHM,
      keys,
      extensions: [
        new x509.BasicConstraintsExtension(true, undefined, true),
        new x509.KeyUsagesExtension(
          x509.KeyUsageFlags.keyCertSign | x509.KeyUsageFlags.cRLSign | x509.KeyUsageFlags.digitalSignature,
          true,
        ),
        await x509.SubjectKeyIdentifierExtension.create(keys.publicKey),
      ],
    });
    return new CertificateAuthority(root, keys, now);
  }

  signServing(names: ServingNames): Promise<CertificateAndKey> {
    const alternatives = [
      ...names.dns.map((value) => ({ type: 'dns' as const, value })),
      ...names.ips.map((value) => ({ type: 'ip' as const, value })),
    ];
    return this.#sign([{ CN: ['kube-apiserver'] }], x509.ExtendedKeyUsage.serverAuth, [
      new x509.SubjectAlternativeNameExtension(alternatives),
    ]);
  }

  signClient(identity: Identity): Promise<CertificateAndKey> {
    const groups = (identity.groups ?? []).map((group) => ({ O: [group] }));
    return this.#sign([{ CN: [identity.user] }, ...groups], x509.ExtendedKeyUsage.clientAuth, []);
  }

  async #sign(
    subject: x509.JsonNameParams,
    usage: x509.ExtendedKeyUsage,
    extensions: readonly x509.Extension[],
  ): Promise<CertificateAndKey> {
    const keys = await generateKeys();
    const certificate = await x509.X509CertificateGenerator.create({
      subject: new x509.Name(subject).toJSON(),
      issuer: this.#root.subject,
      serialNumber: serialNumber(),
      ...validity(this.#now),
      publicKey: keys.publicKey,
      signingKey: this.#keys.privateKey,
      signingAlgorithm: ALGORITHM,
      extensions: [
        new x509.BasicConstraintsExtension(false, undefined, true),
        new x509.KeyUsagesExtension(x509.KeyUsageFlags.digitalSignature, true),
        new x509.ExtendedKeyUsageExtension([usage]),
        ...extensions,
      ],
    });
    return { certificate: certificate.toString('pem'), key: await exportPrivateKey(keys.privateKey) };
  }
}

function generateKeys(): Promise<webcrypto.CryptoKeyPair> {
  return webcrypto.subtle.generateKey(ALGORITHM, true, ['sign', 'verify']);
}

async function exportPrivateKey(key: webcrypto.CryptoKey): Promise<string> {
  return x509.PemConverter.encode(await webcrypto.subtle.exportKey('pkcs8', key), 'PRIVATE KEY');
}

function validity(now: number): { readonly notBefore: Date; readonly notAfter: Date } {
  return { notBefore: new Date(now - DAY_MS), notAfter: new Date(now + LIFETIME_MS) };
}

/** Positive, as RFC 5280 asks: the first bit is clear. */
function serialNumber(): string {
  const bytes = webcrypto.getRandomValues(new Uint8Array(16));
  bytes[0] = (bytes[0]! & 0x3f) | 0x40;
  return Buffer.from(bytes).toString('hex');
}
