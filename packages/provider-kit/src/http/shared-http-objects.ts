/** Shared objects of an HTTP API, for `GroupCommit`: read with GET, written whole on condition of their version. */
import { CloudError, isCloudError, type CallContext } from '@outrigger/cloud-provider';
import type { SharedObjects, Versioned } from '../group-commit/group-commit.ts';
import type { HttpAnswer, HttpClient } from './http-client.ts';
import type { Operation } from './operation.ts';
import { isHttpError, type HttpError } from './refusal.ts';

export interface SharedHttpObjectsOptions<S> {
  readonly client: HttpClient;
  /** With `{id}`, or `{+id}` where IDs have slashes: `GET /firewalls/{id}`. */
  readonly read: Operation;
  /** `PUT /firewalls/{id}`. */
  readonly write: Operation;
  /** The version in an answer. Default: the header `ETag`. `undefined`: the answer has none. */
  readonly versionOf?: (answer: HttpAnswer<S>) => string | undefined;
  /** Whether an error says that the object has another version by now. Default: status 412. */
  readonly isChanged?: (error: unknown) => boolean;
  /**
   * Waits for what the write has begun (202), where others are refused until then: `pollUntil`. Reject with how it has failed, a
   * `CloudError` with its effect; after an answer that refuses the question itself, what has become of the write is read. Default: nothing
   * is waited for.
   */
  readonly settle?: (answer: HttpAnswer<S>, call: CallContext) => Promise<Versioned<S> | undefined>;
}

/** The answer of a write is taken for the object if it has a version. */
export function sharedHttpObjects<S>(options: SharedHttpObjectsOptions<S>): SharedObjects<S> {
  const {
    client,
    isChanged = (error) => isHttpError(error, 412),
    read,
    settle,
    versionOf = (answer) => answer.header('etag'),
    write,
  } = options;
  return {
    async read(id, call) {
      const answer = await client.send<S>(call, read, { params: { id } });
      const version = versionOf(answer);
      if (version !== undefined && version !== '') return { state: answer.body, version };
      throw new CloudError(
        'unavailable',
        `${read} was answered without a version; nothing can be written on condition of it`,
      );
    },
    async write(id, state, version, call) {
      let answer: HttpAnswer<S>;
      try {
        answer = await client.send<S>(call, write, { params: { id }, body: state, ifMatch: version });
      } catch (error) {
        if (isChanged(error)) return { kind: 'changed' };
        throw error;
      }
      if (settle) return { kind: 'written', next: await settle(answer, call).catch(doubt) };
      const now = versionOf(answer);
      return { kind: 'written', next: now === undefined ? undefined : { state: answer.body, version: now } };
    },
  };
}

/** A refused question had no effect itself; what it asked about may have had one. */
function doubt(error: unknown): never {
  if (!isCloudError(error) || (error as Partial<HttpError>).status === undefined) throw error;
  throw new CloudError('unavailable', error.message, { effect: 'unknown', cause: error });
}
