/** What the chart has put into a cluster, carried out: nobody makes pods here, so their programs are started with the pods' own flags and files. */
import assert from 'node:assert/strict';
import { mkdir, mkdtemp, readdir, rename, symlink, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import type { ControlPlane } from '@outrigger/testing';
import { kubectl, startGrantedProgram, untilGranted, type GrantedProgram } from './granted-program.ts';

/** Of all that the chart makes. */
export const NAME = 'outrigger-cloud-controller-manager';

/** As far as it is needed here. */
export interface PodSpec {
  readonly serviceAccountName: string;
  readonly containers: readonly {
    readonly args: readonly string[];
    readonly volumeMounts: readonly { readonly name: string; readonly mountPath: string }[];
  }[];
  readonly volumes: readonly {
    readonly name: string;
    readonly secret?: {
      readonly secretName: string;
      readonly optional?: boolean;
      readonly items?: readonly { readonly key: string; readonly path: string }[];
    };
    readonly configMap?: { readonly name: string };
  }[];
}

/** The flags of a pod, with the paths of its files on this machine. */
export interface LocalPod {
  readonly args: readonly string[];
  /** Brings its files to what their Secrets and ConfigMaps say now, as a kubelet does from time to time. */
  readonly sync: () => Promise<void>;
}

/** `place`: a name of its own for each pod. */
export async function mountPod(controlPlane: ControlPlane, place: string, spec: PodSpec): Promise<LocalPod> {
  const [container, ...others] = spec.containers;
  assert.ok(container && others.length === 0, 'one container');
  const root = join(controlPlane.directory, 'mounts', place);
  const sync = async (): Promise<void> => {
    for (const { mountPath, name } of container.volumeMounts) {
      const volume = spec.volumes.find((one) => one.name === name);
      await publish(`${root}${mountPath}`, await filesOf(controlPlane, volume));
    }
  };
  await sync();
  const args = container.args.map((arg) =>
    container.volumeMounts.reduce(
      (text, { mountPath }) => text.replaceAll(new RegExp(`${mountPath}(?=/|$)`, 'gu'), `${root}${mountPath}`),
      arg,
    ),
  );
  return { args, sync };
}

type Files = readonly (readonly [name: string, content: Buffer])[];

/** As a kubelet does: all at once, by a link to another folder. Nobody reads a half of it, however slow this machine is. */
async function publish(folder: string, files: Files): Promise<void> {
  await mkdir(folder, { recursive: true });
  const version = await mkdtemp(join(folder, '..version-'));
  for (const [file, content] of files) await writeFile(join(version, file), content, { mode: 0o600 });
  await symlink(basename(version), join(folder, '..next'));
  await rename(join(folder, '..next'), join(folder, '..data'));
  const there = await readdir(folder);
  for (const [file] of files) if (!there.includes(file)) await symlink(join('..data', file), join(folder, file));
}

async function filesOf(controlPlane: ControlPlane, volume: PodSpec['volumes'][number] | undefined): Promise<Files> {
  const [kind, name] = volume?.secret
    ? (['secret', volume.secret.secretName] as const)
    : (['configmap', volume?.configMap?.name ?? ''] as const);
  const missing = volume?.secret?.optional ? ['--ignore-not-found'] : [];
  const text = await kubectl(controlPlane, ['get', kind, name, '--namespace=kube-system', '--output=json', ...missing]);
  const { data = {} } = JSON.parse(text === '' ? '{}' : text) as { readonly data?: Readonly<Record<string, string>> };
  const items = volume?.secret?.items ?? Object.keys(data).map((key) => ({ key, path: key }));
  return items.flatMap(({ key, path }) => {
    const content = data[key];
    return content === undefined ? [] : [[path, Buffer.from(content, kind === 'secret' ? 'base64' : 'utf8')] as const];
  });
}

export interface InstalledPod extends LocalPod {
  readonly program: GrantedProgram;
}

/** Starts the program of the DaemonSet or Deployment as it is in the cluster now, with the rights of its account. */
export async function startPod(controlPlane: ControlPlane, place: string): Promise<InstalledPod> {
  const args = ['get', 'daemonsets,deployments', '--namespace=kube-system', '--output=json'];
  const { items } = JSON.parse(await kubectl(controlPlane, args)) as {
    readonly items: readonly { readonly spec: { readonly template: { readonly spec: PodSpec } } }[];
  };
  const [workload, ...others] = items;
  assert.ok(workload && others.length === 0, 'one workload');
  const { spec } = workload.spec.template;
  assert.equal(spec.serviceAccountName, NAME);
  const pod = await mountPod(controlPlane, place, spec);
  await untilGranted(controlPlane, NAME);
  const program = await startGrantedProgram({ controlPlane, account: NAME, replica: place, args: pod.args });
  return { ...pod, program };
}

/** Every object of every kind, as `Kind namespace name`, but Events. */
export async function allObjects(controlPlane: ControlPlane): Promise<readonly string[]> {
  const kinds = await kubectl(controlPlane, ['api-resources', '--verbs=list', '--output=name']);
  const listed = kinds
    .split('\n')
    .filter((kind) => kind !== '' && !/^(?:events|componentstatuses)(?:\.|$)/u.test(kind));
  const columns = '--output=custom-columns=KIND:.kind,NAMESPACE:.metadata.namespace,NAME:.metadata.name';
  const text = await kubectl(controlPlane, ['get', listed.join(','), '--all-namespaces', '--no-headers', columns]);
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => line.replaceAll(/ +/gu, ' ').trim())
    .toSorted();
}
