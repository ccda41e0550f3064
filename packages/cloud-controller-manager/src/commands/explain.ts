/** `outrigger explain`: asks the manager that leads why a node, a Service or a route is as it is. */
import {
  duration,
  FlagError,
  oneOf,
  port,
  readFlagFile,
  string,
  bool,
  type FlagGroup,
} from '@outrigger/controller-manager';
import {
  bearerToken,
  createClient,
  createTransport,
  loadConfig,
  systemClock,
  type ClusterConfig,
  withDeadline,
} from '@outrigger/kube';
import type { Environment } from '../program/environment.ts';
import { askManager } from '../explain/ask-manager.ts';
import { EXPLAIN_PATH } from '../explain/explain-page.ts';
import { explainedKinds, isExplainedKind, type Explanation } from '../explain/explanation.ts';
import { findLeader } from '../explain/find-leader.ts';
import { renderExplanation } from '../explain/render-explanation.ts';
import { defineCommand, type Command } from './command.ts';

interface ExplainOptions {
  server: string;
  kubeconfig: string;
  tokenFile: string;
  certificateAuthority: string;
  insecureSkipTlsVerify: boolean;
  leaderElectResourceNamespace: string;
  leaderElectResourceName: string;
  managerPort: number;
  namespace: string;
  tlsServerName: string;
  requestTimeout: number;
  output: 'text' | 'json';
}

const explainFlags: FlagGroup<ExplainOptions> = {
  title: 'Explain',
  flags: {
    server: {
      type: string,
      default: '',
      usage: 'URL of the manager, such as https://host:10258. Default: the leader, found by its Lease (--kubeconfig).',
    },
    kubeconfig: {
      type: string,
      default: '',
      usage:
        'Kubeconfig that is used to find the leader, and whose user makes the request. Default, without --server: $KUBECONFIG, ~/.kube/config, or the service account.',
    },
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
    leaderElectResourceNamespace: { type: string, default: 'kube-system', usage: 'Namespace of the Lease.' },
    leaderElectResourceName: { type: string, default: 'cloud-controller-manager', usage: 'Name of the Lease.' },
    managerPort: { type: port, default: 10_258, usage: 'The --secure-port of the leader that is found by its Lease.' },
    namespace: {
      type: string,
      default: '',
      shorthand: 'n',
      usage: 'Namespace of the Service, where its name has none. Default: that of the context of the kubeconfig.',
    },
    tlsServerName: {
      type: string,
      default: '',
      usage:
        "Name that the manager's certificate must have, where it is not the host of --server: through a port-forward, for example. Default: that host.",
    },
    requestTimeout: { type: duration({ minMs: 1 }), default: 30_000, usage: 'How long to wait for an answer.' },
    output: { type: oneOf(['text', 'json']), default: 'text', shorthand: 'o', usage: "'text' for people, or 'json'." },
  },
};

export const explainCommand: Command = defineCommand({
  name: 'explain',
  summary: 'Explains the state of a node, a Service or a route: what was observed, what is planned, what was done.',
  words: `${explainedKinds.join('|')} NAME`,
  flags: [explainFlags],
  examples: [
    ['Why a node is not initialized; the leader is found by its Lease', 'outrigger explain node worker-1'],
    ['Why a Service has no address', 'outrigger explain service default/web'],
    [
      'The leader through a port-forward',
      'outrigger explain service default/web --server=https://127.0.0.1:10258 --certificate-authority=ca.crt',
    ],
  ],
  run: async (parsed, environment) => {
    const [kind = '', name = '', ...more] = parsed.words;
    if (!isExplainedKind(kind) || name === '' || more.length > 0) {
      const text = `expected ${explainedKinds.join('|')} and one name: worker-1, default/web or 10.244.1.0/24`;
      throw new FlagError('unexpected-argument', text);
    }
    const options = parsed.of(explainFlags);
    const { clock = systemClock, stdout } = environment;
    const cluster = await clusterOf(options, environment);
    const namespace = options.namespace === '' ? (cluster?.namespace ?? 'default') : options.namespace;
    const full = kind === 'service' && !name.includes('/') ? `${namespace}/${name}` : name;
    const page = `${EXPLAIN_PATH}${kind}/${full.split('/').map(encodeURIComponent).join('/')}`;
    const deadline = { clock, timeoutMs: options.requestTimeout, what: 'asking the manager' };
    const explanation = await withDeadline(deadline, async (signal) => {
      const manager = await managerOf(options, cluster, environment, signal);
      return (await askManager(manager, page, { clock, signal })) as Explanation;
    });
    stdout.write(
      options.output === 'json' ? `${JSON.stringify(explanation, undefined, 2)}\n` : renderExplanation(explanation),
    );
    return 0;
  },
});

/** `undefined`: no cluster is needed, the manager is named. */
async function clusterOf(
  { kubeconfig, server }: ExplainOptions,
  { clock = systemClock, env }: Environment,
): Promise<ClusterConfig | undefined> {
  if (server !== '' && kubeconfig === '') return undefined;
  return await loadConfig({ ...(kubeconfig === '' ? {} : { kubeconfig }), env, clock });
}

/** Where the manager is, and as whom to ask it. */
async function managerOf(
  options: ExplainOptions,
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
      insecureSkipVerify: insecureSkipTlsVerify,
    },
    ...(credentials && { credentials }),
  };
}

async function leaderOf(
  cluster: ClusterConfig,
  { leaderElectResourceName: name, leaderElectResourceNamespace: namespace, managerPort }: ExplainOptions,
  { clock = systemClock }: Environment,
  signal: AbortSignal,
): Promise<string> {
  await using transport = createTransport(cluster, { clock });
  return await findLeader({ client: createClient(transport), name, namespace, port: managerPort, signal });
}
