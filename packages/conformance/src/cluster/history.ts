/** Every state of one object that the API server tells of, so that what stood for a moment only is seen as well. */
import { raceAbort, type Client, type KubeObject, type Resource } from '@outrigger/kube';
import { NotVerifiable } from './verdict.ts';

export class History<T extends KubeObject> implements AsyncDisposable {
  readonly #states: T[];
  readonly #ending = new AbortController();
  readonly #watching: Promise<void>;
  #failure: string | undefined;

  /** From `first` on, which has been read or written just now. */
  constructor(client: Client, resource: Resource<T>, first: T) {
    this.#states = [first];
    this.#watching = this.#watch(client, resource, first);
  }

  /** Throws `NotVerifiable` when some of them may have been missed. */
  get states(): readonly T[] {
    if (this.#failure !== undefined) throw new NotVerifiable(`the watch broke: ${this.#failure}`);
    return this.#states;
  }

  async #watch(client: Client, resource: Resource<T>, { metadata = {} }: T): Promise<void> {
    const { name, namespace } = metadata;
    let { resourceVersion } = metadata;
    const { signal } = this.#ending;
    try {
      while (!signal.aborted) {
        const options = { fieldSelector: `metadata.name=${name}`, resourceVersion, signal };
        const events = client
          .of(resource)
          .watch({ ...options, ...(namespace !== undefined && { namespace }) } as never);
        for await (const { type, object } of events) {
          resourceVersion = object.metadata?.resourceVersion ?? resourceVersion;
          if (type === 'ADDED' || type === 'MODIFIED') this.#states.push(object);
        }
      }
    } catch (error) {
      if (!signal.aborted) this.#failure = String(error);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#ending.abort();
    await raceAbort(this.#watching, this.#ending.signal).catch(() => {});
  }
}
