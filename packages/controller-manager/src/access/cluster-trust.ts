/** Whom the cluster trusts to sign callers and proxies: ConfigMap kube-system/extension-apiserver-authentication, which the API server keeps. */
import {
  isForbidden,
  isNotFound,
  isUnauthorized,
  resources,
  type Client,
  type Clock,
  type ConfigMap,
  type Logger,
} from '@outrigger/kube';
import { CertificateAuthorities } from './certificate-authorities.ts';
import type { RequestHeaderRules } from './request-header-user.ts';

/** What the ConfigMap says. */
interface ClusterTrust {
  readonly clientAuthorities: CertificateAuthorities | undefined;
  readonly requestHeader: RequestHeaderRules | undefined;
}

export interface ClusterTrustOptions {
  readonly client: Client;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Called with what is new. */
  readonly onChange: (trust: ClusterTrust) => void;
  /** Ends the reading. */
  readonly signal: AbortSignal;
}

const CONFIG_MAP = { namespace: 'kube-system', name: 'extension-apiserver-authentication' };
const INTERVAL_MS = 60_000;
const RETRY_MS = 5_000;
const TIMEOUT_MS = 10_000;

/** The ConfigMap may not be read, or is not there. */
export class ClusterTrustError extends Error {
  override readonly name = 'ClusterTrustError';
  readonly code = 'cluster-trust';
}

/**
 * Reads it now and again each minute. The promise settles with the first reading: it rejects with a `ClusterTrustError` when
 * the server refuses it (`tolerateFailure`: it is tried again then too), and resolves when the server cannot be reached: it is tried again every 5 s.
 */
export async function followClusterTrust(
  options: ClusterTrustOptions & { readonly tolerateFailure: boolean },
): Promise<void> {
  const reader = new ExtensionApiserverAuthenticationReader(options);
  const refusal = await reader.read();
  if (refusal !== undefined && !options.tolerateFailure) throw refusal;
  void follow(reader, options);
}

async function follow(
  reader: ExtensionApiserverAuthenticationReader,
  { clock, signal }: ClusterTrustOptions,
): Promise<void> {
  for (;;) {
    try {
      await clock.sleep(reader.isCurrent ? INTERVAL_MS : RETRY_MS, signal);
    } catch {
      return;
    }
    await reader.read();
  }
}

/** In Go `DynamicRequestHeaderController` and `ConfigMapCAController`, which read the same ConfigMap. The Role for it has this name. */
class ExtensionApiserverAuthenticationReader {
  readonly #options: ClusterTrustOptions;
  #version: string | undefined;
  #complaint: string | undefined;

  constructor(options: ClusterTrustOptions) {
    this.#options = options;
  }

  /** Whether the last reading succeeded. */
  get isCurrent(): boolean {
    return this.#complaint === undefined;
  }

  /** What stays until a person mends it; what passes by itself is logged only. */
  async read(): Promise<ClusterTrustError | undefined> {
    const { client, clock, logger, onChange, signal } = this.#options;
    const where = `ConfigMap ${CONFIG_MAP.namespace}/${CONFIG_MAP.name}`;
    try {
      const map = await client.of(resources.configMaps).get(CONFIG_MAP, { signal, timeoutMs: TIMEOUT_MS });
      if (map.metadata?.resourceVersion !== this.#version || this.#version === undefined) {
        onChange(trustOf(map, where, clock));
        this.#version = map.metadata?.resourceVersion;
      }
      this.#complaint = undefined;
      return undefined;
    } catch (error) {
      if (signal.aborted) return undefined;
      const complaint = error instanceof Error ? error.message : String(error);
      if (complaint !== this.#complaint) {
        logger.warn(
          'The client CAs of the cluster could not be read; client certificates are verified with those that were read before',
          { error },
        );
      }
      this.#complaint = complaint;
      if (!isForbidden(error) && !isUnauthorized(error) && !isNotFound(error)) return undefined;
      const text =
        `${where} cannot be read: bind this identity to the Role extension-apiserver-authentication-reader in kube-system, ` +
        'or set --authentication-skip-lookup or --authentication-tolerate-lookup-failure';
      return new ClusterTrustError(text, { cause: error });
    }
  }
}

function trustOf({ data = {} }: ConfigMap, where: string, clock: Clock): ClusterTrust {
  const authorities = (key: string): CertificateAuthorities | undefined => {
    const pem = data[key];
    return pem === undefined || pem === '' ? undefined : new CertificateAuthorities(pem, `${where}: ${key}`, clock);
  };
  const list = (key: string): readonly string[] => {
    const text = data[key];
    if (text === undefined || text === '') return [];
    const value: unknown = JSON.parse(text);
    if (Array.isArray(value) && value.every((item) => typeof item === 'string')) return value;
    throw new Error(`${where}: ${key} is not a list of strings`);
  };
  const proxies = authorities('requestheader-client-ca-file');
  return {
    clientAuthorities: authorities('client-ca-file'),
    requestHeader: proxies && {
      authorities: proxies,
      allowedNames: list('requestheader-allowed-names'),
      usernameHeaders: list('requestheader-username-headers'),
      uidHeaders: list('requestheader-uid-headers'),
      groupHeaders: list('requestheader-group-headers'),
      extraHeadersPrefix: list('requestheader-extra-headers-prefix'),
    },
  };
}
