/** Certificates for new connections: read from files or asked of the credentials, and read again when they change. */
import { X509Certificate } from 'node:crypto';
import { createSecureContext, getCACertificates, type SecureContext } from 'node:tls';
import type { Clock } from '../clock.ts';
import type { ClusterConfig, PemSource, ReadFile } from '../config/cluster-config.ts';
import type { Credentials } from '../config/credentials.ts';
import { RereadFile } from '../config/reread-file.ts';
import type { Logger } from '../logger.ts';
import { TransportError } from './transport-error.ts';

/** Immutable: as long as nothing changes it is the same object, so that connections can be compared by it. */
export interface TlsMaterial {
  readonly context: SecureContext;
}

export interface TlsMaterialOptions {
  readonly config: ClusterConfig;
  readonly credentials: Credentials;
  readonly readFile: ReadFile;
  readonly clock: Clock;
  readonly logger: Logger;
}

type Read = (fresh: boolean) => Promise<string | undefined>;

export class TlsMaterialSource {
  readonly #options: TlsMaterialOptions;
  readonly #ca: Read;
  readonly #certificate: Read;
  readonly #key: Read;
  #material: TlsMaterial | undefined;
  /** What the material was made of. */
  #parts: readonly (string | undefined)[] = [];
  #rejected: readonly (string | undefined)[] | undefined;

  constructor(options: TlsMaterialOptions) {
    const { tls } = options.config;
    this.#options = options;
    this.#ca = this.#reader(tls?.ca);
    this.#certificate = this.#reader(tls?.certificate);
    this.#key = this.#reader(tls?.key);
  }

  /**
   * What a new connection is made with. `fresh` reads the files now, however new what was read is.
   * @throws TransportError `tls-material` when there was never any that works, or a file cannot be read.
   */
  async current(signal: AbortSignal | undefined, fresh = false): Promise<TlsMaterial> {
    const { credentials } = this.#options;
    const [[ca, certificate, key], credential] = await Promise.all([
      this.#readFiles(fresh),
      credentials.current(signal),
    ]);
    const parts = [ca, credential.certificate?.certificate ?? certificate, credential.certificate?.key ?? key];
    if (this.#material && same(parts, this.#parts)) return this.#material;
    return this.#make(parts);
  }

  async #readFiles(fresh: boolean): Promise<readonly (string | undefined)[]> {
    try {
      return await Promise.all([this.#ca(fresh), this.#certificate(fresh), this.#key(fresh)]);
    } catch (error) {
      const what = error instanceof Error ? error.message : String(error);
      throw new TransportError('tls-material', this.#options.config.server, what, { cause: error, sent: false });
    }
  }

  #make(parts: readonly (string | undefined)[]): TlsMaterial {
    const { config, logger } = this.#options;
    const [ca, certificate, key] = parts;
    try {
      // OpenSSL passes over a CA that it cannot read, and then trusts nobody.
      if (ca !== undefined) void new X509Certificate(ca);
      const context = createSecureContext({
        // Go trusts what the system trusts; Node alone would trust only the list that it was built with.
        ca: ca ?? [...getCACertificates('default'), ...getCACertificates('system')],
        // Go trusts each authority of the list by itself; OpenSSL alone would ask for the root of an intermediate one too.
        allowPartialTrustChain: true,
        ...(certificate !== undefined && { cert: certificate }),
        ...(key !== undefined && { key }),
        minVersion: 'TLSv1.2',
      });
      this.#material = { context };
      this.#parts = parts;
      return this.#material;
    } catch (error) {
      // OpenSSL's message names the problem and quotes nothing.
      const reason = error instanceof Error ? error.message : String(error);
      if (this.#material) {
        // A rotation that is half done: the certificate is there, its key not yet.
        if (!this.#rejected || !same(parts, this.#rejected)) {
          logger.warn('New certificates cannot be used; those before stay in use', { reason });
        }
        this.#rejected = parts;
        return this.#material;
      }
      throw new TransportError(
        'tls-material',
        config.server,
        `certificate, key or CA of ${config.source ?? 'the configuration'} cannot be used: ${reason}`,
        { cause: error, sent: false },
      );
    }
  }

  #reader(source: PemSource | undefined): Read {
    if (!source) return () => Promise.resolve(undefined);
    if ('data' in source) return () => Promise.resolve(source.data);
    const { readFile, clock, logger } = this.#options;
    const file = new RereadFile({ path: source.file, where: source.where, readFile, clock, logger });
    return (fresh) => file.read(fresh);
  }
}

function same(a: readonly (string | undefined)[], b: readonly (string | undefined)[]): boolean {
  return a.every((part, i) => part === b[i]);
}
