/** What the judges judge: a real control plane with kube-controller-manager, the cloud in memory, real kubelets, and the program with the rights that it asks for and no others. */
import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { isNotFound, resources, type Node } from '@outrigger/kube';
import { startControlPlane, type ControlPlane, type ControlPlaneOptions } from '@outrigger/testing';
import { CloudStory, STORY_FLAGS } from '../cloud-story.ts';
import { HollowKubelets, NODE_ADDRESSES } from './hollow-kubelets.ts';
import { KUBERNETES } from './programs.ts';

const ACCOUNT = 'outrigger';
/** As whom the API server knows the program. */
export const PROGRAM_USER: string = `system:serviceaccount:kube-system:${ACCOUNT}`;
const PROGRAM = fileURLToPath(new URL('../../distribution/src/cloud-controller-manager.ts', import.meta.url));

export class JudgedCluster implements AsyncDisposable {
  readonly controlPlane: ControlPlane;
  readonly story: CloudStory;
  readonly kubelets: HollowKubelets;
  readonly #owned: AsyncDisposableStack;

  private constructor(parts: Pick<JudgedCluster, 'controlPlane' | 'story' | 'kubelets'>, owned: AsyncDisposableStack) {
    ({ controlPlane: this.controlPlane, story: this.story, kubelets: this.kubelets } = parts);
    this.#owned = owned;
  }

  /** `flags`: of the control plane, besides. */
  static async start(flags: NonNullable<ControlPlaneOptions['flags']> = {}): Promise<JudgedCluster> {
    await using starting = new AsyncDisposableStack();
    const controlPlane = starting.use(
      await startControlPlane({
        kubernetes: KUBERNETES,
        kubectl: true,
        kubeControllerManager: true,
        // A silent kubelet is noticed sooner than within the default 50 s; it renews its Lease every 10 s.
        flags: {
          ...flags,
          'kube-controller-manager': {
            'node-monitor-grace-period': '30s',
            'node-monitor-period': '1s',
            ...flags['kube-controller-manager'],
          },
        },
      }),
    );
    const story = starting.use(await CloudStory.open(controlPlane));
    const kubelets = starting.use(await HollowKubelets.create(controlPlane));
    return new JudgedCluster({ controlPlane, story, kubelets }, starting.move());
  }

  /** A machine, and the kubelet on it; resolves once that has registered its node. */
  async boot(name: string, ...flags: readonly string[]): Promise<void> {
    this.story.cloud.createInstance({
      name,
      addresses: [
        { type: 'InternalIP', address: NODE_ADDRESSES[name] ?? '' },
        { type: 'ExternalIP', address: `203.0.113.${name.replace(/\D+/gu, '')}` },
        { type: 'Hostname', address: name },
      ],
    });
    await this.kubelets.start(name, ...flags);
    await this.story.until(`the kubelet has registered ${name}`, async () => {
      try {
        await this.node(name);
        return true;
      } catch (error) {
        if (isNotFound(error)) return false;
        throw error;
      }
    });
  }

  node(name: string): Promise<Node> {
    return this.story.client.of(resources.nodes).get({ name });
  }

  /** With no flags but those of the story, these controllers and `flags`, and every right that it says it needs with them. */
  async startProgram(controllers: string = '*,node-ipam-controller', ...flags: readonly string[]): Promise<void> {
    await this.story.run(ACCOUNT, [...STORY_FLAGS, '--leader-elect=false', `--controllers=${controllers}`, ...flags]);
  }

  /** All nodes are ready, initialised, and nothing keeps Pods away from them. */
  async isReady(...names: readonly string[]): Promise<void> {
    for (const name of names) {
      await this.story.isServed(name);
      await this.story.until(`node ${name} is ready, without taints`, async () => {
        const { spec, status } = await this.node(name);
        const ready = status?.conditions?.find(({ type }) => type === 'Ready');
        return ready?.status === 'True' && (spec?.taints ?? []).length === 0;
      });
    }
  }

  /** A command of the program, as whom the kubeconfig says; resolves with what it printed, whatever its exit code. */
  outrigger(kubeconfig: string, ...args: readonly string[]): Promise<string> {
    return new Promise((resolve, reject) => {
      const child = spawn(process.execPath, [PROGRAM, ...args, `--kubeconfig=${kubeconfig}`], {
        stdio: ['ignore', 'pipe', 'inherit'],
      });
      let output = '';
      child.stdout.setEncoding('utf8').on('data', (text: string) => (output += text));
      child.on('error', reject);
      child.on('close', () => resolve(output));
    });
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#owned.disposeAsync();
  }
}
