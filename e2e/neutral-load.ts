/**
 * As many writes as large as those of the hostile tenant and the hostile kubelets, of objects that concern the program nothing: what they
 * take of the machine, the API server and etcd everybody pays, whatever the program does.
 */
import {
  isStatusError,
  noMetrics,
  openStore,
  resources,
  silentLogger,
  systemClock,
  type ConfigMap,
  type ResourceClient,
} from '@outrigger/kube';
import { clientOf } from '@outrigger/testing';
import { KUBELETS } from './hostile-kubelets.ts';
import { TENANT } from './hostile-tenant.ts';
import { Pacer } from './pacer.ts';

const NAMESPACE = 'neutral';
const LARGE_TEXT = 'x'.repeat(240_000);
/** What a kubelet says of images. */
const IMAGES_TEXT = 'x'.repeat(200_000);

export interface NeutralLoadOptions {
  /** Of somebody who may write everything: the file. */
  readonly kubeconfig: string;
  readonly random: () => number;
}

export class NeutralLoad implements AsyncDisposable {
  readonly #owned = new AsyncDisposableStack();
  readonly #random: () => number;
  readonly #configMaps: ResourceClient<ConfigMap>;
  readonly #there = new Set<string>();
  readonly #pacers: readonly Pacer[];

  private constructor(owned: AsyncDisposableStack, configMaps: ResourceClient<ConfigMap>, random: () => number) {
    this.#owned = owned;
    this.#configMaps = configMaps;
    this.#random = random;
    let turn = 0;
    this.#pacers = [
      new Pacer({ ...TENANT.pace, act: () => this.#actAsTenant() }),
      new Pacer({ ...KUBELETS.pace, act: () => this.#actAsKubelet(turn++ % KUBELETS.pace.atOnce) }),
    ];
  }

  /** Begins. */
  static async start({ kubeconfig, random }: NeutralLoadOptions): Promise<NeutralLoad> {
    const owned = new AsyncDisposableStack();
    const client = owned.use(await clientOf(kubeconfig));
    await client
      .of(resources.namespaces)
      .create({ metadata: { name: NAMESPACE } })
      .catch((error: unknown) => {
        if (!isStatusError(error)) throw error;
      });
    // Somebody watches them, as the Services and Nodes of the attack are watched.
    const watched = { client, clock: systemClock, logger: silentLogger, metrics: noMetrics };
    owned.use(openStore<ConfigMap>({ ...watched, resource: resources.configMaps, namespace: NAMESPACE }));
    const load = new NeutralLoad(owned, client.of(resources.configMaps), random);
    for (const pacer of load.#pacers) pacer.start();
    return load;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const pacer of this.#pacers) await pacer.stop();
    await this.#configMaps.deleteCollection({ namespace: NAMESPACE });
    await this.#owned.disposeAsync();
  }

  /** In the shares in which the tenant makes, changes and deletes. */
  #actAsTenant(): Promise<void> {
    const name = `n-${Math.floor(this.#random() * TENANT.names)}`;
    const ref = { namespace: NAMESPACE, name };
    const text = this.#random() < 0.1 ? { [`t${Math.floor(this.#random() * 3)}`]: LARGE_TEXT } : {};
    const data = { ...text, at: String(systemClock.now()) };
    return this.#try(async () => {
      if (!this.#there.has(name)) {
        this.#there.add(name);
        await this.#configMaps.create({ metadata: ref, data });
      } else if (this.#random() < 0.45) {
        this.#there.delete(name);
        if (this.#random() < 0.5) await this.#patch(name, { metadata: { finalizers: null } });
        await this.#configMaps.delete(ref);
      } else {
        await this.#patch(name, this.#random() < 0.35 ? { data } : { data: { at: data.at } });
      }
    });
  }

  #actAsKubelet(index: number): Promise<void> {
    const name = `kubelet-${index}`;
    return this.#try(async () => {
      if (!this.#there.has(name)) {
        this.#there.add(name);
        await this.#configMaps.create({ metadata: { namespace: NAMESPACE, name }, data: { images: IMAGES_TEXT } });
        return;
      }
      const isLarge = this.#random() < 0.1;
      const data = isLarge ? { conditions: LARGE_TEXT, more: LARGE_TEXT } : { conditions: String(systemClock.now()) };
      await this.#patch(name, { data });
    });
  }

  async #patch(name: string, body: object): Promise<void> {
    const patch = { type: 'strategic', body: body as Readonly<Record<string, unknown>> } as const;
    await this.#configMaps.patch({ namespace: NAMESPACE, name }, patch, { answer: 'metadata' });
  }

  async #try(act: () => Promise<void>): Promise<void> {
    try {
      await act();
    } catch (error) {
      if (!isStatusError(error)) throw error;
    }
  }
}
