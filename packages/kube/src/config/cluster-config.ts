/** What a transport needs to know of a cluster. `loadConfig` makes one; tests write it by hand. */
import type { Credentials } from './credentials.ts';

/** PEM text, or the file that holds it. A file is read again while the program runs. */
export type PemSource =
  | { readonly data: string }
  | {
      readonly file: string;
      /** The file and key of the configuration that names it, for error messages. */
      readonly where?: string;
    };

/** The group of kubelets, which is the organization in their certificates. */
export const NODES_GROUP = 'system:nodes';

export interface TlsConfig {
  /** Whom to trust. Default: the authorities that the system and Node trust. */
  readonly ca?: PemSource;
  /** The client certificate; set with `key`, or not at all. */
  readonly certificate?: PemSource;
  readonly key?: PemSource;
  /** The name that the server's certificate must bear. Default: the host in `server`. */
  readonly serverName?: string;
  /**
   * A server with a certificate of this organization is not trusted, whoever has signed it: those of kubelets are of `NODES_GROUP`, and the
   * authority of the cluster may have signed them too. Default: any is.
   */
  readonly refusedOrganization?: string;
  /** Trust anyone. For trying things out only. Default: false. */
  readonly insecureSkipVerify?: boolean;
}

/** One cluster, as one user. */
export interface ClusterConfig {
  /** `https://host[:port][/prefix]` without a slash at its end. */
  readonly server: string;
  readonly tls?: TlsConfig;
  /** Default: anonymous. */
  readonly credentials?: Credentials;
  /** `http://` or `https://` proxy, reached by CONNECT: `proxy-url`, else what the environment names. Default: none. */
  readonly proxyUrl?: string;
  /** The namespace of the context, or of the pod. Default: `default`. */
  readonly namespace?: string;
  /** Where this came from, for messages: `context "admin" in ~/.kube/config`, `in-cluster`. */
  readonly source?: string;
}

/** Reads a whole file. Rejects as `node:fs/promises` does, with `code` `ENOENT` and so on. */
export type ReadFile = (path: string) => Promise<string>;
