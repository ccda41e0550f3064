/** A real control plane for tests: etcd and kube-apiserver, and kube-controller-manager on request, on 127.0.0.1. Entry point: `startControlPlane`. */
import { generateKeyPairSync, randomBytes } from 'node:crypto';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock, type Clock } from '@outrigger/kube';
import { askApiServer, askForJson, type ApiEndpoint } from './api-request.ts';
import { AUDIT_POLICY, AuditLog } from './audit-log.ts';
import { CertificateAuthority, type Identity } from './certificate-authority.ts';
import {
  apiServerFlags,
  controllerManagerFlags,
  etcdFlags,
  toArguments,
  type Flags,
  type PkiFiles,
} from './component-flags.ts';
import { ControlPlaneError } from './control-plane-error.ts';
import type { ControlPlane, ControlPlaneOptions, Kubeconfig, KubeconfigRequest } from './control-plane-contract.ts';
import { compactEtcd, etcdRevision, removeMadeAfter } from './etcd.ts';
import { findBinaries, type FoundBinary } from './find-binaries.ts';
import { freePort } from './free-port.ts';
import { kubeconfigText, type KubeconfigCredential } from './kubeconfig.ts';
import { ProcessGroup, tailOf, type Program } from './process-group.ts';
import { DEFAULT_KUBERNETES, parseKubernetesMinor, type Component, type KubernetesMinor } from './releases.ts';

const READY_POLL_MS = 50;
/** The API server's own limit for requests in flight is 60 s; a test does not wait for its watches to end. */
const STOP_GRACE_MS = 5_000;
/** Another process may take a port between looking for it and listening on it. */
const PORT_ATTEMPTS = 3;
/** What the API server's own controllers make, and tests find. */
const BUILT_IN = [
  '/api/v1/namespaces/default',
  '/api/v1/namespaces/kube-node-lease',
  '/api/v1/namespaces/kube-public',
  // Its UID is the cluster's.
  '/api/v1/namespaces/kube-system',
  '/api/v1/namespaces/kube-system/configmaps/extension-apiserver-authentication',
  '/api/v1/namespaces/default/services/kubernetes',
];
const ADMIN: Identity = { user: 'admin', groups: ['system:masters'] };

/** Finds or builds the programs, starts them and waits until the API server is ready. Throws a `ControlPlaneError`. */
export async function startControlPlane(options: ControlPlaneOptions = {}): Promise<ControlPlane> {
  const { env = process.env, clock = systemClock, logger, signal } = options;
  const kubernetes = options.kubernetes ?? parseKubernetesMinor(env['KUBERNETES'] || DEFAULT_KUBERNETES);
  const components: Component[] = [
    'etcd',
    'kube-apiserver',
    ...(options.kubeControllerManager ? (['kube-controller-manager'] as const) : []),
    ...(options.kubectl ? (['kubectl'] as const) : []),
  ];
  const binaries = await findBinaries(kubernetes, components, {
    env,
    clock,
    signal,
    ...(logger && { logger }),
    ...(options.makers && { makers: options.makers }),
  });
  for (let attempt = 1; ; attempt++) {
    const controlPlane = await RealControlPlane.prepare({ ...options, kubernetes, clock }, binaries);
    try {
      await controlPlane.start();
      return controlPlane;
    } catch (error) {
      await controlPlane[Symbol.asyncDispose]();
      const portTaken = error instanceof Error && error.message.includes('address already in use');
      if (!portTaken || attempt === PORT_ATTEMPTS || signal?.aborted) throw error;
    }
  }
}

type Settings = ControlPlaneOptions & { readonly kubernetes: KubernetesMinor; readonly clock: Clock };

class RealControlPlane implements ControlPlane {
  readonly kubernetes: KubernetesMinor;
  readonly server: string;
  readonly certificateAuthority: string;
  readonly adminToken: string;
  readonly directory: string;
  readonly binaries: Readonly<Partial<Record<Component, FoundBinary>>>;
  readonly #settings: Settings;
  readonly #clock: Clock;
  readonly #authority: CertificateAuthority;
  readonly #tokens: ReadonlyMap<string, string>;
  readonly #port: number;
  readonly #pki: PkiFiles;
  readonly #audit: { readonly policy: string; readonly log: string } | undefined;
  readonly #group: ProcessGroup;
  readonly #programs = new Map<string, Program>();
  readonly #endpoint: ApiEndpoint;
  #etcdPort = 0;
  /** Of etcd, once it holds what every cluster has. */
  #startRevision = '';
  #kubeconfig: Kubeconfig | undefined;
  #kubeconfigs = 0;
  #startMs = 0;

  private constructor(
    settings: Settings,
    binaries: Readonly<Partial<Record<Component, FoundBinary>>>,
    prepared: {
      readonly directory: string;
      readonly authority: CertificateAuthority;
      readonly admin: KubeconfigCredential;
      readonly tokens: ReadonlyMap<string, string>;
      readonly port: number;
      readonly pki: PkiFiles;
      readonly audit: { readonly policy: string; readonly log: string } | undefined;
    },
  ) {
    this.#settings = settings;
    this.#clock = settings.clock;
    this.kubernetes = settings.kubernetes;
    this.binaries = binaries;
    this.directory = prepared.directory;
    this.#authority = prepared.authority;
    this.certificateAuthority = prepared.authority.certificate;
    this.#tokens = prepared.tokens;
    this.adminToken = prepared.tokens.get(ADMIN.user)!;
    this.#port = prepared.port;
    this.server = `https://127.0.0.1:${prepared.port}`;
    this.#pki = prepared.pki;
    this.#audit = prepared.audit;
    this.#endpoint = {
      server: this.server,
      certificateAuthority: this.certificateAuthority,
      credential: prepared.admin,
    };
    const temporary = settings.directory === undefined;
    this.#group = new ProcessGroup({ removeOnEnd: temporary ? [this.directory] : [join(this.directory, 'etcd')] });
  }

  /** Makes the files that the programs read. */
  static async prepare(
    settings: Settings,
    binaries: Readonly<Partial<Record<Component, FoundBinary>>>,
  ): Promise<RealControlPlane> {
    const directory = settings.directory ?? (await mkdtemp(join(tmpdir(), 'outrigger-control-plane-')));
    for (const folder of ['logs', 'pki', 'kubeconfigs']) await mkdir(join(directory, folder), { recursive: true });
    const authority = await CertificateAuthority.create(settings.clock.now());
    const serving = await authority.signServing({
      dns: ['localhost', 'kubernetes', 'kubernetes.default', 'kubernetes.default.svc'],
      ips: ['127.0.0.1', '::1', '10.96.0.1'],
    });
    const serviceAccounts = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    const kubeletClient = await authority.signClient({ user: 'kube-apiserver', groups: ['system:masters'] });
    const tokens = new Map<string, string>();
    const rows: string[] = [];
    for (const { user, groups = [] } of [ADMIN, ...(settings.tokenUsers ?? [])]) {
      const token = randomBytes(24).toString('hex');
      tokens.set(user, token);
      rows.push(`${token},"${user}","${user}","${groups.join(',')}"\n`);
    }
    const write = async (name: string, text: string | Buffer): Promise<string> => {
      const path = join(directory, 'pki', name);
      await writeFile(path, text, { mode: 0o600 });
      return path;
    };
    const pki: PkiFiles = {
      authority: await write('ca.crt', authority.certificate),
      servingCertificate: await write('kube-apiserver.crt', serving.certificate),
      servingKey: await write('kube-apiserver.key', serving.key),
      kubeletClientCertificate: await write('kubelet-client.crt', kubeletClient.certificate),
      kubeletClientKey: await write('kubelet-client.key', kubeletClient.key),
      serviceAccountKey: await write('sa.key', serviceAccounts.privateKey.export({ type: 'sec1', format: 'pem' })),
      serviceAccountPublicKey: await write('sa.pub', serviceAccounts.publicKey.export({ type: 'spki', format: 'pem' })),
      tokens: await write('tokens.csv', rows.join('')),
    };
    const audit =
      settings.auditLog === false
        ? undefined
        : { policy: await write('audit-policy.yaml', AUDIT_POLICY), log: join(directory, 'logs', 'audit.log') };
    // Readable before the server has written its first line.
    if (audit) await writeFile(audit.log, '', { mode: 0o600 });
    const admin = await authority.signClient(ADMIN);
    const port = await freePort();
    return new RealControlPlane(settings, binaries, { directory, authority, admin, tokens, port, pki, audit });
  }

  async start(): Promise<void> {
    const started = this.#clock.monotonic();
    this.#etcdPort = await freePort();
    const etcd = etcdFlags({
      data: join(this.directory, 'etcd'),
      clientPort: this.#etcdPort,
      peerPort: await freePort(),
    });
    await this.#run('etcd', etcd);
    await this.startApiServer();
    this.#kubeconfig = await this.kubeconfigFor(ADMIN);
    if (this.#settings.kubeControllerManager) {
      await this.startControllerManager();
      // Its work shows that it runs: the service account that pods of `default` need.
      const program = this.#programs.get('kube-controller-manager')!;
      await this.#until(program, 'working', '/api/v1/namespaces/default/serviceaccounts/default');
    }
    this.#startRevision = await etcdRevision(this.#etcdUrl);
    this.#startMs = this.#clock.monotonic() - started;
  }

  get kubeconfig(): Kubeconfig {
    return this.#kubeconfig!;
  }

  get kubectl(): string | undefined {
    return this.binaries.kubectl?.path;
  }

  get auditLog(): AuditLog {
    if (!this.#audit) throw new Error('this control plane keeps no audit log: it was started with auditLog: false');
    return new AuditLog(this.#audit.log);
  }

  get pids(): Readonly<Record<string, number>> {
    const running = [...this.#programs.values()].filter((program) => !program.exit);
    return Object.fromEntries(running.map((program) => [program.name, program.pid]));
  }

  get startMs(): number {
    return this.#startMs;
  }

  async kubeconfigFor(request: KubeconfigRequest): Promise<Kubeconfig> {
    const user = request.user ?? ADMIN.user;
    const groups = request.groups ?? (request.user === undefined ? ADMIN.groups! : []);
    const text = kubeconfigText({
      server: request.server ?? this.server,
      certificateAuthority: request.certificateAuthority ?? this.certificateAuthority,
      user,
      credential:
        request.credential === 'token' ? this.#tokenOf(user) : await this.#authority.signClient({ user, groups }),
    });
    const path = join(this.directory, 'kubeconfigs', `${++this.#kubeconfigs}.yaml`);
    await writeFile(path, text, { mode: 0o600 });
    return { path, text };
  }

  certificateFor(identity: Identity): Promise<{ readonly certificate: string; readonly key: string }> {
    return this.#authority.signClient(identity);
  }

  async serviceAccountToken(namespace: string, name: string): Promise<string> {
    const accounts = `/api/v1/namespaces/${namespace}/serviceaccounts`;
    const metadata = { namespace, name };
    await this.#post(accounts, { apiVersion: 'v1', kind: 'ServiceAccount', metadata }, [409]);
    const answer = await this.#post(`${accounts}/${name}/token`, {
      apiVersion: 'authentication.k8s.io/v1',
      kind: 'TokenRequest',
      spec: { expirationSeconds: 86_400 },
    });
    return (answer as { status: { token: string } }).status.token;
  }

  async restartApiServer(): Promise<void> {
    const program = this.#programs.get('kube-apiserver')!;
    program.signal('SIGTERM');
    const timer = this.#clock.setTimer(STOP_GRACE_MS, () => program.signal('SIGKILL'));
    await program.exited();
    timer.cancel();
    await this.startApiServer();
  }

  async killApiServer(): Promise<void> {
    const program = this.#programs.get('kube-apiserver')!;
    program.signal('SIGKILL');
    await program.exited();
  }

  async startApiServer(): Promise<void> {
    const flags = apiServerFlags({
      etcdPort: this.#etcdPort,
      port: this.#port,
      pki: this.#pki,
      audit: this.#audit,
      serviceAccountAdmission: this.#settings.kubeControllerManager ?? false,
    });
    const program = await this.#run('kube-apiserver', flags);
    await this.#until(program, 'ready', '/readyz');
    // Made by controllers in the server, shortly after it calls itself ready, and not before a minute has passed when they are taken away.
    for (const path of BUILT_IN) await this.#until(program, `ready: no ${path}`, path);
  }

  async endControllerManager(signal: 'SIGTERM' | 'SIGKILL'): Promise<number | null> {
    const program = this.#programs.get('kube-controller-manager')!;
    program.signal(signal);
    return (await program.exited()).code;
  }

  async startControllerManager(flags: Flags = {}): Promise<void> {
    const { path } = await this.kubeconfigFor({ user: 'system:kube-controller-manager' });
    const standard = controllerManagerFlags({
      port: await freePort(),
      kubeconfig: path,
      certificates: join(this.directory, 'pki'),
      pki: this.#pki,
    });
    await this.#run('kube-controller-manager', standard, flags);
  }

  async compact(): Promise<void> {
    await compactEtcd(this.#etcdUrl);
    await this.killApiServer();
    await this.startApiServer();
  }

  async reset(): Promise<void> {
    await removeMadeAfter(this.#etcdUrl, this.#startRevision);
  }

  freezeApiServer(): void {
    this.#programs.get('kube-apiserver')!.signal('SIGSTOP');
  }

  thawApiServer(): void {
    this.#programs.get('kube-apiserver')!.signal('SIGCONT');
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#group[Symbol.asyncDispose]();
    const whole = this.#settings.directory === undefined;
    // The supervisor has done so; unless it was killed itself.
    await rm(whole ? this.directory : join(this.directory, 'etcd'), { recursive: true, force: true, maxRetries: 5 });
  }

  get #etcdUrl(): string {
    return `http://127.0.0.1:${this.#etcdPort}`;
  }

  async #run(name: Exclude<Component, 'kubectl'>, flags: Flags, more: Flags = {}): Promise<Program> {
    const program = await this.#group.start({
      name,
      command: this.binaries[name]!.path,
      args: toArguments(flags, this.#settings.flags?.[name] ?? {}, more),
      log: join(this.directory, 'logs', `${name}.log`),
    });
    this.#programs.set(name, program);
    return program;
  }

  /** Asks until the answer is 200; throws with the log's end when the program ends first or takes too long. */
  async #until(program: Program, what: string, path: string): Promise<void> {
    const { startTimeoutMs = 180_000, signal } = this.#settings;
    const deadline = this.#clock.monotonic() + startTimeoutMs;
    let last = 'no answer';
    for (;;) {
      const dead = [...this.#programs.values()].find((candidate) => candidate.exit);
      if (dead) throw await startError(dead, `ended with ${dead.exit!.signal ?? dead.exit!.code}`);
      try {
        const answer = await askApiServer(this.#endpoint, { path, signal });
        if (answer.status === 200) return;
        last = `${answer.status} ${answer.text.slice(0, 200)}`;
      } catch (error) {
        last = error instanceof Error ? error.message : String(error);
      }
      signal?.throwIfAborted();
      if (this.#clock.monotonic() >= deadline) {
        throw await startError(program, `not ${what} after ${startTimeoutMs} ms (${last})`);
      }
      await this.#clock.sleep(READY_POLL_MS, signal);
    }
  }

  #post(path: string, body: unknown, accept: readonly number[] = []): Promise<unknown> {
    return askForJson(this.#endpoint, { method: 'POST', path, body, accept });
  }

  #tokenOf(user: string): { readonly token: string } {
    const token = this.#tokens.get(user);
    if (token !== undefined) return { token };
    throw new Error(`user "${user}" has no token: name it in the option tokenUsers, or use serviceAccountToken`);
  }
}

async function startError(program: Program, what: string): Promise<ControlPlaneError> {
  const tail = await tailOf(program.log);
  return new ControlPlaneError('control-plane-start', `${program.name}: ${what}; end of its log:\n${tail}`);
}
