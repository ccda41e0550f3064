/** Things of one kind behind one path of a REST API: `GET /servers`, `GET /servers/{id}`, and so on. */
import type { CallContext } from '@outrigger/cloud-provider';
import type { HttpClient, ListOptions } from './http-client.ts';
import type { Operation, Query } from './operation.ts';

export interface RestCollectionOptions extends Pick<ListOptions, 'items' | 'next' | 'partial'> {
  /** Of lists. Default: none. */
  readonly query?: Query;
  /** The member of an answer, and of a body, that holds the one thing (`server`). Default: it is the whole. */
  readonly item?: string;
  /** How a thing is changed. Default: `PUT`. */
  readonly change?: 'PATCH' | 'PUT';
  /** Which of the provider's rate limits they count against. Default: the provider's only one. */
  readonly bucket?: string;
}

export class RestCollection<Thing> {
  readonly #client: HttpClient;
  readonly #path: `/${string}`;
  readonly #options: RestCollectionOptions;

  /** `path`: below the client's root, `/servers`. */
  constructor(client: HttpClient, path: `/${string}`, options: RestCollectionOptions) {
    this.#client = client;
    this.#path = path;
    this.#options = options;
  }

  /** Whether a body of `change` holds what is to be changed alone. */
  get changesInPart(): boolean {
    return this.#options.change === 'PATCH';
  }

  /** All, or an error. */
  list(call: CallContext): Promise<readonly Thing[]> {
    const { change: _change, item: _item, ...options } = this.#options;
    return this.#client.list<Thing>(call, `GET ${this.#path}`, options).all();
  }

  read(id: string, call: CallContext): Promise<Thing> {
    return this.#send(`GET ${this.#path}/{id}`, call, id);
  }

  create(body: unknown, call: CallContext): Promise<Thing> {
    return this.#send(`POST ${this.#path}`, call, undefined, body);
  }

  async change(id: string, body: unknown, call: CallContext): Promise<void> {
    await this.#send(`${this.#options.change ?? 'PUT'} ${this.#path}/{id}`, call, id, body);
  }

  async delete(id: string, call: CallContext): Promise<void> {
    await this.#send(`DELETE ${this.#path}/{id}`, call, id);
  }

  async #send(operation: Operation, call: CallContext, id: string | undefined, body?: unknown): Promise<Thing> {
    const { bucket, item } = this.#options;
    const answer = await this.#client.request<Thing>(call, operation, {
      ...(id !== undefined && { params: { id } }),
      ...(body !== undefined && { body: item === undefined ? body : { [item]: body } }),
      ...(bucket !== undefined && { bucket }),
    });
    return item === undefined ? answer : ((answer as Record<string, Thing> | undefined)?.[item] as Thing);
  }
}
