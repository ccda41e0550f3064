/** What a TLS handshake is made with: certificates, whom to ask for one, and settings; replaced while connections live on. */
import { constants, X509Certificate } from 'node:crypto';
import { createSecureContext, type SecureContext, type SecureContextOptions } from 'node:tls';
import type { Server as TlsServer } from 'node:https';
import type { ServingCertificate } from './self-signed-certificate.ts';

/** A certificate for callers that ask for these names. */
export interface NamedCertificate extends ServingCertificate {
  /** `example.com`, `*.example.com`. Empty: those in the certificate. */
  readonly names: readonly string[];
}

export interface HandshakeMaterial {
  readonly certificate: ServingCertificate;
  readonly named: readonly NamedCertificate[];
  /** PEM of those who sign callers' certificates. */
  readonly clientAuthorities: readonly string[];
}

interface NamedContext {
  readonly names: readonly string[];
  readonly pem: string;
  readonly certificate: X509Certificate;
  readonly context: SecureContext;
}

/** What OpenSSL takes. The name is the caller's. */
const HOST_NAME = /^[\w.-]{1,253}$/u;
const CERTIFICATE = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/gu;

export class ServingContext {
  readonly #settings: SecureContextOptions;
  #material: HandshakeMaterial;
  #named: readonly NamedContext[] = [];
  #server: TlsServer | undefined;

  /** Throws what OpenSSL says of a certificate and key that do not fit. */
  constructor(material: HandshakeMaterial, settings: SecureContextOptions) {
    // Without tickets no session is resumed: each connection shows its certificate anew, to the authorities of the day.
    this.#settings = { ...settings, secureOptions: constants.SSL_OP_NO_TICKET };
    this.#material = material;
    createSecureContext(this.options);
    this.#named = this.#contextsOf(material);
  }

  get material(): HandshakeMaterial {
    return this.#material;
  }

  /** For the constructor of the server. */
  get options(): SecureContextOptions {
    return this.#optionsOf(this.#material, this.#material.certificate);
  }

  /** Handshakes of this server are made with it from now on. */
  attach(server: TlsServer): void {
    this.#server = server;
  }

  /** For handshakes from now on. Throws what OpenSSL says; then everything stays as it was. */
  replace(change: Partial<HandshakeMaterial>): void {
    const next = { ...this.#material, ...change };
    const named = this.#contextsOf(next);
    const options = this.#optionsOf(next, next.certificate);
    createSecureContext(options);
    this.#server?.setSecureContext(options);
    this.#material = next;
    this.#named = named;
  }

  /** The context for a name; `undefined`: the one for all. */
  contextFor(name: string): SecureContext | undefined {
    return this.#find(name)?.context;
  }

  /** What who asks for this name is shown: PEM, with the chain. A file may hold its key too, which is left out. */
  certificateFor(name: string): string {
    const pem = this.#find(name)?.pem ?? this.#material.certificate.cert;
    return `${pem.match(CERTIFICATE)?.join('\n') ?? ''}\n`;
  }

  /** When the first of its certificates expires, in milliseconds since the Unix epoch. */
  get expires(): number {
    const own = new X509Certificate(this.#material.certificate.cert);
    return Math.min(
      ...[own, ...this.#named.map(({ certificate }) => certificate)].map((one) => Number(one.validToDate)),
    );
  }

  #find(name: string): NamedContext | undefined {
    if (!HOST_NAME.test(name)) return undefined;
    return this.#named.find(({ certificate, names }) =>
      names.length === 0 ? certificate.checkHost(name) !== undefined : names.some((pattern) => matches(pattern, name)),
    );
  }

  #contextsOf(material: HandshakeMaterial): readonly NamedContext[] {
    return material.named.map(({ names, ...pair }) => ({
      names,
      pem: pair.cert,
      certificate: new X509Certificate(pair.cert),
      context: createSecureContext(this.#optionsOf(material, pair)),
    }));
  }

  #optionsOf({ clientAuthorities }: HandshakeMaterial, { cert, key }: ServingCertificate): SecureContextOptions {
    // An empty list trusts nobody; left out, Node would trust the authorities of the web.
    return { ...this.#settings, cert, key, ca: [...clientAuthorities] };
  }
}

/** As a certificate's names: `*` stands for one label, and only for the first. */
function matches(pattern: string, name: string): boolean {
  const [wanted, asked] = [pattern.toLowerCase(), name.toLowerCase()];
  if (!wanted.startsWith('*.')) return wanted === asked;
  return asked.slice(asked.indexOf('.')) === wanted.slice(1) && asked.indexOf('.') > 0;
}
