/** Command lines of the programs, for every release in `releases.ts`. All listeners are on 127.0.0.1. */

/** `name: value` for `--name=value`; `undefined` takes a default flag away. */
export type Flags = Readonly<Record<string, string | undefined>>;

/** Later flags win. */
export function toArguments(...flags: readonly Flags[]): string[] {
  const merged: Record<string, string | undefined> = Object.assign({}, ...flags);
  return Object.entries(merged).flatMap(([name, value]) => (value === undefined ? [] : [`--${name}=${value}`]));
}

export function etcdFlags(options: {
  readonly data: string;
  readonly clientPort: number;
  readonly peerPort: number;
}): Flags {
  const client = `http://127.0.0.1:${options.clientPort}`;
  const peer = `http://127.0.0.1:${options.peerPort}`;
  return {
    name: 'default',
    'data-dir': options.data,
    'listen-client-urls': client,
    'advertise-client-urls': client,
    'listen-peer-urls': peer,
    'initial-advertise-peer-urls': peer,
    'initial-cluster': `default=${peer}`,
    // The data dies with the test: an fsync per write would only slow it.
    'unsafe-no-fsync': 'true',
    'log-level': 'warn',
    // Default is 2 GB, which a long run of 5,000 heartbeating nodes of 10 KB can reach.
    'quota-backend-bytes': String(8 * 1024 ** 3),
  };
}

/** Paths of the files that the API server reads. */
export interface PkiFiles {
  readonly authority: string;
  readonly servingCertificate: string;
  readonly servingKey: string;
  /** With which the API server asks kubelets. */
  readonly kubeletClientCertificate: string;
  readonly kubeletClientKey: string;
  readonly serviceAccountKey: string;
  readonly serviceAccountPublicKey: string;
  readonly tokens: string;
}

export function apiServerFlags(options: {
  readonly etcdPort: number;
  readonly port: number;
  readonly pki: PkiFiles;
  readonly audit?: { readonly policy: string; readonly log: string } | undefined;
  /** Without kube-controller-manager nobody makes the `default` service accounts that this admission asks for. */
  readonly serviceAccountAdmission: boolean;
}): Flags {
  const { pki, audit } = options;
  return {
    'etcd-servers': `http://127.0.0.1:${options.etcdPort}`,
    'bind-address': '127.0.0.1',
    'advertise-address': '127.0.0.1',
    'secure-port': String(options.port),
    // Endpoints of the `kubernetes` Service may not be loopback addresses; nobody uses them here.
    'endpoint-reconciler-type': 'none',
    'authorization-mode': 'Node,RBAC',
    'client-ca-file': pki.authority,
    'tls-cert-file': pki.servingCertificate,
    'tls-private-key-file': pki.servingKey,
    'token-auth-file': pki.tokens,
    'kubelet-client-certificate': pki.kubeletClientCertificate,
    'kubelet-client-key': pki.kubeletClientKey,
    // As kubeadm has it: names of nodes need not be names of hosts.
    'kubelet-preferred-address-types': 'InternalIP,ExternalIP,Hostname',
    'service-account-issuer': 'https://kubernetes.default.svc',
    'service-account-signing-key-file': pki.serviceAccountKey,
    'service-account-key-file': pki.serviceAccountPublicKey,
    'service-cluster-ip-range': '10.96.0.0/16,fd00:10:96::/112',
    'allow-privileged': 'true',
    profiling: 'false',
    ...(!options.serviceAccountAdmission && { 'disable-admission-plugins': 'ServiceAccount' }),
    ...(audit && {
      'audit-policy-file': audit.policy,
      'audit-log-path': audit.log,
      // Written before the answer goes out, so that a count is exact at any moment; and never rotated.
      'audit-log-mode': 'blocking-strict',
      'audit-log-maxsize': '1000000',
    }),
  };
}

export function controllerManagerFlags(options: {
  readonly port: number;
  readonly kubeconfig: string;
  readonly certificates: string;
  readonly pki: PkiFiles;
}): Flags {
  return {
    kubeconfig: options.kubeconfig,
    'authentication-kubeconfig': options.kubeconfig,
    'authorization-kubeconfig': options.kubeconfig,
    'bind-address': '127.0.0.1',
    'secure-port': String(options.port),
    'cert-dir': options.certificates,
    // Nodes, routes and load balancers are the cloud-controller-manager's.
    'cloud-provider': 'external',
    'service-account-private-key-file': options.pki.serviceAccountKey,
    'root-ca-file': options.pki.authority,
    'use-service-account-credentials': 'true',
    'leader-elect': 'false',
    profiling: 'false',
  };
}
