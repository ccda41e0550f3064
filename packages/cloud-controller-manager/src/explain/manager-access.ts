/** How commands for people reach a manager: their flags, where the leader is, and as whom it is asked. */
import { bool, duration, port, readFlagFile, string, type FlagGroup } from '@outrigger/controller-manager';
import {
  bearerToken,
  createClient,
  createTransport,
  loadConfig,
  NODES_GROUP,
  systemClock,
  type ClusterConfig,
} from '@outrigger/kube';
import type { Environment } from '../program/environment.ts';
import { findLeader } from './find-leader.ts';

export interface ManagerOptions {
  server: string;
  kubeconfig: string;
  context: string;
  tokenFile: string;
  certificateAuthority: string;
  insecureSkipTlsVerify: boolean;
  leaderElectResourceNamespace: string;
  leaderElectResourceName: string;
  managerPort: number;
  tlsServerName: string;
  requestTimeout: number;
}

export const managerFlags: FlagGroup<ManagerOptions> = {
  title: 'Manager',
  flags: {
    server: {
      type: string,
      default: '',
      usage:
        'URL of the manager, such as https://host:10258: for one that runs in no Pod, or in another namespace than its Lease. Default: the Pod of the leader, found by its Lease (--kubeconfig).',
    },
    kubeconfig: {
      type: string,
      default: '',
      usage:
        'Kubeconfig that is used to find the leader, and whose user makes the request. Default, without --server: $KUBECONFIG, ~/.kube/config, or the service account.',
    },
    context: { type: string, default: '', usage: 'Context of the kubeconfig. Default: its current context.' },
    tokenFile: {
      type: string,
      default: '',
      usage: 'File with a bearer token to use instead of the user of --kubeconfig.',
    },
    certificateAuthority: {
      type: string,
      default: '',
      usage:
        "File with the certificate authorities (PEM) that sign the manager's certificate. Default: those of the cluster.",
    },
    insecureSkipTlsVerify: {
      type: bool,
      default: false,
      usage:
        "Do not verify the manager's certificate, for example when it is self-signed: whoever answers receives the token.",
    },
    leaderElectResourceNamespace: {
      type: string,
      default: 'kube-system',
      usage: 'Namespace of the Lease, and of the Pods of the manager.',
    },
    leaderElectResourceName: { type: string, default: 'cloud-controller-manager', usage: 'Name of the Lease.' },
    managerPort: { type: port, default: 10_258, usage: 'The --secure-port of the leader that is found by its Lease.' },
    tlsServerName: {
      type: string,
      default: '',
      usage:
        "Name that the manager's certificate must have, where it is not the host of --server: through a port-forward, for example. Default: that host.",
    },
    requestTimeout: { type: duration({ minMs: 1 }), default: 30_000, usage: 'How long to wait for an answer.' },
  },
};

/** `undefined`: no cluster is needed, the manager is named. */
export async function clusterOf(
  { context, kubeconfig, server }: ManagerOptions,
  { clock = systemClock, env }: Environment,
): Promise<ClusterConfig | undefined> {
  if (server !== '' && kubeconfig === '' && context === '') return undefined;
  return await loadConfig({
    ...(kubeconfig !== '' && { kubeconfig }),
    ...(context !== '' && { context }),
    env,
    clock,
  });
}

/** Where the manager is, and as whom to ask it. Throws an `Error` of one line where there is no leader. */
export async function managerOf(
  options: ManagerOptions,
  cluster: ClusterConfig | undefined,
  environment: Environment,
  signal: AbortSignal,
): Promise<ClusterConfig> {
  const { certificateAuthority, insecureSkipTlsVerify, server, tlsServerName, tokenFile } = options;
  const { workingDirectory } = environment;
  const { certificate, key, ca } = cluster?.tls ?? {};
  const read = (flag: string, file: string): Promise<string> | undefined =>
    file === '' ? undefined : readFlagFile(flag, file, workingDirectory);
  const authorities = await read('--certificate-authority', certificateAuthority);
  const token = await read('--token-file', tokenFile);
  const authority = authorities === undefined ? ca : { data: authorities };
  const found = server === '' && cluster ? await leaderOf(cluster, options, environment, signal) : server;
  const credentials = token === undefined ? cluster?.credentials : bearerToken(token.trim());
  return {
    server: found.replace(/\/+$/u, ''),
    tls: {
      ...(authority && { ca: authority }),
      ...(certificate && key && token === undefined && { certificate, key }),
      ...(tlsServerName !== '' && { serverName: tlsServerName }),
      // The authority of the cluster may have signed the certificates of kubelets too, for the addresses of their nodes.
      refusedOrganization: NODES_GROUP,
      insecureSkipVerify: insecureSkipTlsVerify,
    },
    ...(credentials && { credentials }),
  };
}

async function leaderOf(
  cluster: ClusterConfig,
  { leaderElectResourceName: name, leaderElectResourceNamespace: namespace, managerPort }: ManagerOptions,
  { clock = systemClock }: Environment,
  signal: AbortSignal,
): Promise<string> {
  await using transport = createTransport(cluster, { clock });
  return await findLeader({ client: createClient(transport), name, namespace, port: managerPort, signal });
}
