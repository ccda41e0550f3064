/** The innermost `Transport`: connections and certificates, time-outs and abort. Everything else is a layer over it. */
import type { Clock } from '../clock.ts';
import type { ClusterConfig, ReadFile } from '../config/cluster-config.ts';
import { anonymous } from '../config/credentials.ts';
import type { Logger } from '../logger.ts';
import type { Transport, TransportRequest, TransportResponse } from '../transport.ts';
import { Connections, type ConnectionsOptions } from './connections.ts';
import { RequestScope } from './request-scope.ts';
import { TlsMaterialSource, type TlsMaterial } from './tls-material.ts';
import { TransportError, toTransportError } from './transport-error.ts';

export interface HttpTransportOptions extends Omit<ConnectionsOptions, 'proxyUrl'> {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly readFile: ReadFile;
}

export class HttpTransport implements Transport {
  readonly #config: ClusterConfig;
  readonly #options: HttpTransportOptions;
  readonly #origin: string;
  readonly #pathPrefix: string;
  readonly #tls: TlsMaterialSource | undefined;
  readonly #scopes = new Set<RequestScope>();
  /** How many requests are under way on each set of connections; those of earlier certificates live as long as theirs. */
  readonly #inUse = new Map<Connections, number>();
  #connections: Connections | undefined;
  #closed: TransportError | undefined;

  constructor(config: ClusterConfig, options: HttpTransportOptions) {
    const url = new URL(config.server);
    this.#config = config;
    this.#options = options;
    this.#origin = url.origin;
    this.#pathPrefix = url.pathname.replace(/\/+$/, '');
    this.#tls =
      url.protocol === 'https:'
        ? new TlsMaterialSource({ config, credentials: config.credentials ?? anonymous, ...options })
        : undefined;
  }

  async send(request: TransportRequest): Promise<TransportResponse> {
    if (this.#closed) throw this.#closed;
    let connections: Connections | undefined;
    const scope = new RequestScope(request, this.#origin, this.#options.clock, (ended) => {
      this.#scopes.delete(ended);
      if (connections) this.#release(connections, ended);
    });
    this.#scopes.add(scope);
    try {
      const material = await this.#tls?.current(scope.signal);
      if (scope.failure) throw scope.failure;
      connections = this.#connectionsFor(material);
      this.#use(connections);
      return await connections.send(scope);
    } catch (error) {
      const failure = scope.failure ?? toTransportError(error, this.#origin, true);
      scope.finish();
      throw failure;
    }
  }

  /** Reads certificates now; whether new connections will be made with others than before. */
  async reloadCertificates(): Promise<boolean> {
    if (!this.#tls) return false;
    const before = this.#connections?.material;
    return (await this.#tls.current(undefined, true)) !== before;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closed ??= new TransportError('closed', this.#origin, 'the transport is closed', { sent: true });
    const closed = this.#closed;
    for (const scope of this.#scopes) scope.fail(closed);
    const all = new Set(this.#inUse.keys());
    if (this.#connections) all.add(this.#connections);
    this.#inUse.clear();
    this.#connections = undefined;
    await Promise.all(Array.from(all, (connections) => connections.destroy(closed)));
  }

  #connectionsFor(material: TlsMaterial | undefined): Connections {
    if (this.#closed) throw this.#closed;
    if (this.#connections && this.#connections.material === material) return this.#connections;
    const old = this.#connections;
    if (old) {
      this.#options.logger.info('Certificates have changed; new connections use the new ones', {
        server: this.#config.server,
      });
      old.drain();
    }
    const target = {
      origin: this.#origin,
      serverName: this.#config.tls?.serverName,
      refusedOrganization: this.#config.tls?.refusedOrganization,
      insecureSkipVerify: this.#config.tls?.insecureSkipVerify ?? false,
    };
    this.#connections = new Connections(target, this.#pathPrefix, material, {
      ...this.#options,
      proxyUrl: this.#config.proxyUrl,
    });
    return this.#connections;
  }

  #use(connections: Connections): void {
    this.#inUse.set(connections, (this.#inUse.get(connections) ?? 0) + 1);
  }

  #release(connections: Connections, scope: RequestScope): void {
    connections.forget(scope);
    const left = (this.#inUse.get(connections) ?? 1) - 1;
    if (left > 0) this.#inUse.set(connections, left);
    else this.#inUse.delete(connections);
  }
}
