/** The shipped program as a pod runs it: with the token of a service account that has been granted what `outrigger rbac` says, and nothing else. */
import { spawn } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { systemClock, type KubeObject } from '@outrigger/kube';
import { clientOf, freePort, type AccessObject, type ControlPlane, type FaultProxy } from '@outrigger/testing';
import { Manager } from './manager.ts';
import { rbacResource } from './rbac-resource.ts';

const PROGRAM = fileURLToPath(new URL('../distribution/src/cloud-controller-manager.ts', import.meta.url));
const NAMESPACE = 'kube-system';
const PATIENCE_MS = 120_000;

/** Runs a command; resolves with what it printed, rejects when its exit code is not 0. */
export function run(command: string, args: readonly string[], input = ''): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { stdio: ['pipe', 'pipe', 'pipe'] });
    let [output, errors] = ['', ''];
    child.stdout.setEncoding('utf8').on('data', (text: string) => (output += text));
    child.stderr.setEncoding('utf8').on('data', (text: string) => (errors += text));
    child.on('error', reject);
    child.on('close', (code) => {
      if (code === 0) resolve(output);
      else reject(new Error(`${command} ${args.join(' ')} ended with ${code}\n${errors}${output}`));
    });
    child.stdin.end(input);
  });
}

/** `kubectl` as admin. */
export function kubectl(controlPlane: ControlPlane, args: readonly string[], input?: string): Promise<string> {
  const cache = `--cache-dir=${join(controlPlane.directory, 'kubectl')}`;
  return run(controlPlane.kubectl ?? '', ['--kubeconfig', controlPlane.kubeconfig.path, cache, ...args], input);
}

/** Makes the account and grants it what the program says that it needs with these flags. */
export async function grant(controlPlane: ControlPlane, account: string, flags: readonly string[]): Promise<void> {
  await controlPlane.serviceAccountToken(NAMESPACE, account);
  await kubectl(controlPlane, ['apply', '-f', '-'], await printRbac(account, flags));
  await untilGranted(controlPlane, account);
}

/** What the program prints for these flags. */
function printRbac(account: string, flags: readonly string[]): Promise<string> {
  return run(process.execPath, [PROGRAM, 'rbac', `--service-account=${account}`, ...flags]);
}

/** All roles and bindings that the cluster has. */
async function accessObjects(controlPlane: ControlPlane): Promise<readonly AccessObject[]> {
  await using client = await clientOf(controlPlane.kubeconfig.path);
  const kinds = ['ClusterRole', 'ClusterRoleBinding', 'Role', 'RoleBinding'] as const;
  const lists = kinds.map(async (kind) => (await client.of(rbacResource(kind)).list()).items);
  return (await Promise.all(lists)).flat() as (KubeObject & AccessObject)[];
}

/** Our own roles and bindings for this account and those of its controllers, and the roles that every cluster has. */
export async function grantedTo(controlPlane: ControlPlane, account: string): Promise<readonly AccessObject[]> {
  return (await accessObjects(controlPlane)).filter(({ kind, metadata: { name = '' } = {} }) => {
    const isOurs = name === account || name.startsWith(`${account}:`);
    return isOurs || kind === 'ClusterRole' || kind === 'Role';
  });
}

/** Until the API server has taken in what was applied: each rule of each role that is bound, by its first verb. */
export async function untilGranted(controlPlane: ControlPlane, account: string): Promise<void> {
  const objects = await grantedTo(controlPlane, account);
  const questions = objects.flatMap(({ metadata: { namespace } = {}, roleRef, subjects: [subject] = [] }) => {
    const role = objects.find(
      ({ kind, metadata }) =>
        kind === roleRef?.kind &&
        metadata?.name === roleRef?.name &&
        (kind === 'ClusterRole' || metadata?.namespace === namespace),
    );
    const { kind, name: subjectName = '', namespace: home = '' } = subject ?? {};
    const user = kind === 'User' ? subjectName : `system:serviceaccount:${home}:${subjectName}`;
    return (role?.rules ?? []).map((rule) => {
      const { apiGroups: [group = ''] = [], resourceNames: [name] = [], resources: [path = ''] = [], verbs } = rule;
      const [resource, subresource] = path.split('/');
      return { user, resourceAttributes: { group, resource, subresource, name, namespace, verb: verbs[0] } };
    });
  });
  await using client = await clientOf(controlPlane.kubeconfig.path);
  const reviews = client.of({
    group: 'authorization.k8s.io',
    version: 'v1',
    plural: 'subjectaccessreviews',
    kind: 'SubjectAccessReview',
    namespaced: false,
  });
  for (const question of questions) {
    const deadline = systemClock.monotonic() + PATIENCE_MS;
    for (;;) {
      const review = await reviews.create({
        apiVersion: 'authorization.k8s.io/v1',
        kind: 'SubjectAccessReview',
        spec: question,
      } as KubeObject);
      if ((review as { status?: { allowed?: boolean } }).status?.allowed) break;
      if (systemClock.monotonic() > deadline) {
        throw new Error(`not granted within ${PATIENCE_MS / 1_000} s: ${JSON.stringify(question)}`);
      }
      await systemClock.sleep(50);
    }
  }
}

export interface GrantedProgramOptions {
  readonly controlPlane: ControlPlane;
  /** Between the program and the API server. Default: nothing. */
  readonly proxy?: FaultProxy;
  /** Name of the service account, in kube-system. */
  readonly account: string;
  /** To tell replicas apart. Default: `1`. */
  readonly replica?: string;
  readonly args: readonly string[];
}

/** A running program and the port that it serves. */
export interface GrantedProgram {
  readonly manager: Manager;
  readonly port: number;
  readonly log: string;
  /** Whether it has ended otherwise than by being asked to. */
  readonly failed: () => boolean;
}

/** Starts it. Nothing is granted here. */
export async function startGrantedProgram(options: GrantedProgramOptions): Promise<GrantedProgram> {
  const { account, args, controlPlane, proxy, replica = '1' } = options;
  const token = await controlPlane.serviceAccountToken(NAMESPACE, account);
  const file = (name: string): string => join(controlPlane.directory, `${account}-${replica}.${name}`);
  const [kubeconfig, log, port] = [file('kubeconfig'), file('log'), await freePort()];
  const authority = proxy?.certificateAuthority ?? controlPlane.certificateAuthority;
  const cluster = {
    server: proxy?.url ?? controlPlane.server,
    'certificate-authority-data': Buffer.from(authority).toString('base64'),
  };
  await writeFile(
    kubeconfig,
    JSON.stringify({
      apiVersion: 'v1',
      kind: 'Config',
      'current-context': 'c',
      clusters: [{ name: 'c', cluster }],
      users: [{ name: 'c', user: { token } }],
      contexts: [{ name: 'c', context: { cluster: 'c', user: 'c' } }],
    }),
    { mode: 0o600 },
  );
  const manager = new Manager(
    [
      ...args,
      `--kubeconfig=${kubeconfig}`,
      `--authentication-kubeconfig=${kubeconfig}`,
      `--authorization-kubeconfig=${kubeconfig}`,
      '--bind-address=127.0.0.1',
      `--secure-port=${port}`,
    ],
    log,
  );
  manager.start();
  let code: number | null = 0;
  void manager.ended.then((ended) => (code = ended));
  return { manager, port, log, failed: () => code !== 0 };
}
