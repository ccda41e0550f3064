import assert from 'node:assert/strict';
import { copyFile, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test, type TestContext } from 'node:test';
import { fileURLToPath } from 'node:url';
import { resources } from '@outrigger/kube';
import { controlPlaneOrSkip, freePort, hollowNode, type ControlPlane } from '@outrigger/testing';
import { parse, parseAllDocuments } from 'yaml';
import { CloudStory } from './cloud-story.ts';
import { define, downloadDefinitions, HELM_CHARTS } from './custom-definitions.ts';
import { kubectl, startGrantedProgram, untilGranted, type GrantedProgram } from './granted-program.ts';
import { Manager } from './manager.ts';
import { readGuide } from './guide-page.ts';
import { rke2Node, type Rke2Role } from './rke2.ts';
import { runGuide } from './run-guide.ts';

const NAME = 'outrigger-cloud-controller-manager';
const CONTROL_PLANE = 'node-role.kubernetes.io/control-plane';

type Flags = Readonly<Record<string, string>>;

interface ExtraArgs {
  readonly extraArgs?: readonly { readonly name: string; readonly value: string }[];
}

function page(name: string): URL {
  return new URL(`../docs/guides/deploy/${name}.md`, import.meta.url);
}

/** What kubeadm makes of the file of its page, for the programs that run here. */
async function kubeadmFlags(): Promise<{ readonly apiServer: Flags; readonly controllerManager: Flags }> {
  const [file] = readGuide(await readFile(page('kubeadm'), 'utf8')).flatMap((step) =>
    step.kind === 'file' ? [step] : [],
  );
  const documents = parseAllDocuments(file?.text ?? '').map((one) => one.toJS() as Readonly<Record<string, unknown>>);
  const cluster = documents.find(({ kind }) => kind === 'ClusterConfiguration');
  assert.ok(cluster, 'the page has a ClusterConfiguration');
  const flagsOf = (component: unknown): Flags =>
    Object.fromEntries(((component as ExtraArgs).extraArgs ?? []).map(({ name, value }) => [name, value]));
  const { podSubnet } = cluster['networking'] as { readonly podSubnet: string };
  return {
    apiServer: flagsOf(cluster['apiServer']),
    controllerManager: {
      ...flagsOf(cluster['controllerManager']),
      'allocate-node-cidrs': 'true',
      'cluster-cidr': podSubnet,
    },
  };
}

interface Rig {
  readonly controlPlane: ControlPlane;
  readonly story: CloudStory;
  readonly directory: string;
}

async function start(t: TestContext, apiServer: Flags = {}): Promise<Rig | undefined> {
  const controlPlane = await controlPlaneOrSkip(t, {
    kubectl: true,
    kubeControllerManager: true,
    flags: { 'kube-apiserver': apiServer },
  });
  if (!controlPlane) return undefined;
  const directory = await mkdtemp(path.join(tmpdir(), 'outrigger-deploy-'));
  t.after(() => rm(directory, { recursive: true }));
  const story = await CloudStory.open(controlPlane);
  t.after(() => story[Symbol.asyncDispose]());
  await copyFile(story.cloudConfig, path.join(directory, 'cloud.conf'));
  for (const file of ['cloud-controller-manager.yml', 'cloud-controller-manager-deployment.yml']) {
    await copyFile(fileURLToPath(new URL(`../deploy/${file}`, import.meta.url)), path.join(directory, file));
  }
  return { controlPlane, story, directory };
}

/** A kubelet with `--cloud-provider=external` registers, on a machine that there is. */
async function join({ story }: Rig, name: string, role?: string): Promise<void> {
  story.cloud.createInstance({ name });
  const node = hollowNode({ name, images: 1 });
  const labels = { ...node.metadata?.labels, ...(role !== undefined && { [CONTROL_PLANE]: role }) };
  await story.client.of(resources.nodes).create({ ...node, metadata: { ...node.metadata, labels } });
}

test('the guides to kubeadm and to static pods: with their settings, the program does its work as the user that they name', async (t) => {
  const { apiServer, controllerManager } = await kubeadmFlags();
  const rig = await start(t, apiServer);
  if (!rig) return;
  const { controlPlane, directory } = rig;
  const log = path.join(directory, 'program.log');
  await using owned = new AsyncDisposableStack();
  let manager: Manager | undefined;
  /** The kubelet's part: the flags of the pod in the file, with a port of its own and what the node has in these places. */
  const startPod = async (): Promise<void> => {
    const text = await readFile(path.join(directory, 'manifests', `${NAME}.yaml`), 'utf8');
    const { spec } = parse(text) as {
      readonly spec: { readonly containers: readonly { readonly args: readonly string[] }[] };
    };
    await untilGranted(controlPlane, NAME);
    const { path: kubeconfig } = await controlPlane.kubeconfigFor({ user: NAME });
    await copyFile(kubeconfig, path.join(directory, 'outrigger.conf'));
    const args = spec.containers.flatMap((container) => container.args);
    manager = owned.use(new Manager([...args, `--secure-port=${await freePort()}`], log));
    manager.start();
  };
  const act = async (action: string, who: string): Promise<void> => {
    if (action === 'join') return await join(rig, who);
    switch (`${action} ${who}`) {
      case 'restart kube-controller-manager':
        await controlPlane.endControllerManager('SIGTERM');
        return await controlPlane.startControllerManager(controllerManager);
      case 'start static':
        return await startPod();
      case 'stop static':
        assert.equal(await manager?.end('SIGTERM'), 0, await readFile(log, 'utf8'));
        return undefined;
      default:
        return assert.fail(`the page says: ${action} ${who}`);
    }
  };
  const logs = (): Promise<string> => readFile(log, 'utf8').catch(() => '');
  for (const name of ['kubeadm', 'static-pod']) {
    await runGuide({ page: page(name), controlPlane, directory, act, log: logs });
  }
  // kube-controller-manager has the flags, and works with them.
  await rig.story.until('the nodes have a pod CIDR of the range in the guide', async () => {
    const { items } = await rig.story.client.of(resources.nodes).list();
    return items.length === 2 && items.every(({ spec }) => spec?.podCIDR?.startsWith('10.244.'));
  });
  const asked = await controlPlane.auditLog.requests(({ user }) => user.username === NAME);
  assert.ok(asked.length > 10, 'it is this user who has asked');
  const refused = asked.filter(({ responseStatus }) => responseStatus?.code === 403);
  assert.deepEqual(
    refused.map(({ requestURI, verb }) => `${verb} ${requestURI}`),
    [],
  );
});

test('the guides to DaemonSet, Deployment, k3s and RKE2: pods are made where they say, and all goes with delete', async (t) => {
  const rig = await start(t);
  if (!rig) return;
  const { controlPlane, directory, story } = rig;
  for (const [name, role] of [
    ['daemonset', ''],
    ['deployment', ''],
    ['k3s', 'true'],
  ] as const) {
    const act = (_action: string, who: string): Promise<void> => join(rig, who, role);
    const { commands } = await runGuide({
      page: page(name),
      controlPlane,
      directory,
      act,
      log: () => Promise.resolve(''),
    });
    assert.ok(commands >= 4, `${name}.md has ${commands} commands only`);
    const { items } = await story.client.of(resources.nodes).list();
    for (const { metadata } of items) await story.client.of(resources.nodes).delete({ name: metadata?.name ?? '' });
  }
  await rke2Guide(rig);
  await judgeHelmChart(t, rig);
});

/** Its nodes register as RKE2 registers them with the page's settings, and the DaemonSet's program initialises them. */
async function rke2Guide(rig: Rig): Promise<void> {
  const { controlPlane, directory, story } = rig;
  let program: GrantedProgram | undefined;
  const config = (role: Rke2Role): Promise<string> =>
    readFile(path.join(directory, role === 'agent' ? 'agent/config.yaml' : 'config.yaml'), 'utf8');
  const act = async (action: string, who: string): Promise<void> => {
    const role = who.includes('agent') ? 'agent' : 'server';
    switch (action) {
      case 'join': {
        story.cloud.createInstance({ name: who });
        const files = { config: await config(role), serverConfig: await config('server') };
        await story.client.of(resources.nodes).create(rke2Node({ name: who, role, ...files }));
        return;
      }
      case 'start':
        program = await startDaemon(rig);
        return;
      case 'stop':
        assert.equal(await program?.manager.end('SIGTERM'), 0);
        return;
      default:
        assert.fail(`the page says: ${action} ${who}`);
    }
  };
  const log = (): Promise<string> => (program ? readFile(program.log, 'utf8') : Promise.resolve(''));
  try {
    const { commands } = await runGuide({ page: page('rke2'), controlPlane, directory, act, log });
    assert.ok(commands >= 5, `rke2.md has ${commands} commands only`);
  } finally {
    await program?.manager.end('SIGKILL');
  }
}

/** As its pod on a node: with its flags and its account. */
async function startDaemon({ controlPlane, story }: Rig): Promise<GrantedProgram> {
  const found = await kubectl(controlPlane, ['get', 'daemonset', NAME, '--namespace=kube-system', '--output=json']);
  const { spec } = JSON.parse(found) as {
    readonly spec: { readonly template: { readonly spec: { readonly containers: readonly { args: string[] }[] } } };
  };
  const args = spec.template.spec.containers.flatMap((container) => container.args);
  await untilGranted(controlPlane, NAME);
  return startGrantedProgram({
    controlPlane,
    account: NAME,
    args: args.map((arg) => arg.replace('/etc/outrigger/cloud.conf', story.cloudConfig)),
  });
}

/** The definition that RKE2 brings takes the page's object, and refuses what it does not know. */
async function judgeHelmChart(t: TestContext, { controlPlane, directory }: Rig): Promise<void> {
  try {
    await downloadDefinitions(HELM_CHARTS);
  } catch (error) {
    if (process.env['CI']) throw error;
    t.diagnostic(`the definition of HelmCharts cannot be had: ${(error as Error).message}`);
    return;
  }
  await define(controlPlane, HELM_CHARTS);
  const chart = await readFile(path.join(directory, 'outrigger.yaml'), 'utf8');
  const apply = (text: string): Promise<string> => {
    const args = ['apply', '--dry-run=server', '--warnings-as-errors', '--validate=strict', '--output=name', '-f', '-'];
    return kubectl(controlPlane, args, text);
  };
  assert.equal(await apply(chart), `helmchart.helm.cattle.io/${NAME}\n`);
  await assert.rejects(apply(chart.replace('bootstrap:', 'bootstraps:')), /unknown field "spec\.bootstraps"/u);
}
