/** Authorities that sign the certificates of callers. */
import { X509Certificate } from 'node:crypto';
import type { Clock } from '@outrigger/kube';

/** A bundle of authorities that cannot be used. */
export class AuthoritiesError extends Error {
  override readonly name = 'AuthoritiesError';
  readonly code = 'client-authorities';
}

const BLOCK = /-----BEGIN CERTIFICATE-----[\s\S]+?-----END CERTIFICATE-----/gu;
const CLIENT_AUTH = '1.3.6.1.5.5.7.3.2';
const ANY_USAGE = '2.5.29.37.0';

export class CertificateAuthorities {
  /** All of them, PEM. */
  readonly pem: string;
  readonly #anchors: readonly X509Certificate[];
  readonly #clock: Clock;

  /** `where`: flag or ConfigMap, for the message. Throws an `AuthoritiesError`. */
  constructor(pem: string, where: string, clock: Clock) {
    const blocks = pem.match(BLOCK) ?? [];
    if (blocks.length === 0) throw new AuthoritiesError(`${where}: no PEM block CERTIFICATE`);
    try {
      this.#anchors = blocks.map((block) => new X509Certificate(block));
    } catch (cause) {
      throw new AuthoritiesError(`${where}: a certificate cannot be read`, { cause });
    }
    this.pem = pem;
    this.#clock = clock;
  }

  /**
   * Whether one of these authorities has signed the certificate as that of a client. The signature is checked here, and not
   * only that OpenSSL found some chain: which of several bundles has signed decides what the holder may claim, and names
   * alone can be made up. An intermediate authority has to be in the bundle; one that a caller sends along counts for nothing.
   */
  vouchFor(certificate: X509Certificate): boolean {
    const usages = certificate.keyUsage as readonly string[] | undefined;
    // Node's name for the extended key usages.
    if (usages && !usages.includes(CLIENT_AUTH) && !usages.includes(ANY_USAGE)) return false;
    if (!this.#isCurrent(certificate)) return false;
    return this.#anchors.some((anchor) => this.#isCurrent(anchor) && isSignedBy(certificate, anchor));
  }

  #isCurrent(certificate: X509Certificate): boolean {
    const now = this.#clock.now();
    return certificate.validFromDate.getTime() <= now && now <= certificate.validToDate.getTime();
  }
}

function isSignedBy(certificate: X509Certificate, issuer: X509Certificate): boolean {
  return issuer.ca && certificate.checkIssued(issuer) && certificate.verify(issuer.publicKey);
}
