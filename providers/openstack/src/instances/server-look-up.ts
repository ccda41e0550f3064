/** Servers of nova: one directly, or many by the cheaper of the project's list and one request for each. */
import { CloudError, isCloudError, type CallContext, type Clock, type CloudErrorCode } from '@outrigger/cloud-provider';
import type { ApiClient } from '../client/api-client.ts';
import { isCheaper, listCost } from './look-up-cost.ts';
import type { AskedServer } from './provider-ids.ts';
import type { Server } from './server.ts';

export type ServerResult =
  | { readonly kind: 'found'; readonly server: Server }
  | { readonly kind: 'missing' }
  | { readonly kind: 'absent'; readonly proof: string }
  | { readonly kind: 'failed'; readonly error: Error };

export interface ServerAnswer {
  readonly asOf: number;
  readonly result: ServerResult;
}

/** nova's `max_limit`, as it comes. */
const PAGE_SIZE = 1000;
/** Servers that are not in a list and are asked for one by one, in one look-up: a lost cell is not asked for each of its own. */
const MOST_CONFIRMED = 20;

/** From here on, nova says UNKNOWN of servers in a cell that it cannot reach; below, it leaves them out of lists, and a GET is a 500. */
const WITH_UNKNOWN = '2.69';
/** From here on, the flavor's name is in the server. */
const WITH_FLAVOR = '2.47';

export class ServerLookUp {
  readonly #client: () => ApiClient;
  readonly #clock: Clock;
  /** Servers of the project when it was last listed. */
  #inProject: number | undefined;
  #warned = false;

  constructor(client: () => ApiClient, clock: Clock) {
    this.#client = client;
    this.#clock = clock;
  }

  /** Servers of the project, as far as is known; 0 before its first list. */
  get inProject(): number {
    return this.#inProject ?? 0;
  }

  /** In the order of `asked`. Rejects when nothing at all could be found out. */
  async many(asked: readonly AskedServer[], call: CallContext): Promise<readonly ServerAnswer[]> {
    const inCloud = asked.filter(({ by }) => by === 'id' || by === 'name').length;
    // A project that was never listed is taken to be the cluster: the first list says what it is.
    const list = listCost(this.#inProject ?? inCloud, PAGE_SIZE);
    if (!isCheaper(list, { requests: inCloud, items: inCloud })) {
      const read = await Promise.all(asked.map((one) => this.#settled(one, call)));
      throwWhereAllFailed(read, inCloud);
      return read;
    }
    const listed = await this.#list(call);
    const answers = asked.map((one) => this.#fromList(one, listed));
    return this.#confirmed(asked, answers, call);
  }

  /** Directly, never from a list of all. Rejects with what kept it from being found out. */
  async one(asked: AskedServer, call: CallContext): Promise<ServerAnswer> {
    const asOf = this.#clock.monotonic();
    switch (asked.by) {
      case 'id':
        return { asOf, result: await this.#byId(asked.id, call) };
      case 'name':
        return { asOf, result: await this.#byName(asked.name, call) };
      default:
        return { asOf, result: notAsked(asked) };
    }
  }

  /** The server as nova's first microversion shows it: with the flavor's ID. */
  async flavorIdOf(id: string, call: CallContext): Promise<string | undefined> {
    const { server } = await this.#client().request<{ server?: Server }>(call, {
      service: 'compute',
      operation: 'GET /servers/{id}',
      method: 'GET',
      path: pathOf(id),
    });
    return server?.flavor?.id;
  }

  async #settled(asked: AskedServer, call: CallContext): Promise<ServerAnswer> {
    const asOf = this.#clock.monotonic();
    try {
      return await this.one(asked, call);
    } catch (error) {
      return { asOf, result: { kind: 'failed', error: error instanceof Error ? error : new Error(String(error)) } };
    }
  }

  async #byId(id: string, call: CallContext): Promise<ServerResult> {
    const path = pathOf(id);
    const microversion = await this.#microversion(call);
    try {
      const { server } = await this.#client().request<{ server?: Server }>(call, {
        service: 'compute',
        operation: 'GET /servers/{id}',
        method: 'GET',
        path,
        microversion,
      });
      if (server?.id !== id) throw new CloudError('unavailable', `GET ${path}: nova's answer is not of this server`);
      return { kind: 'found', server };
    } catch (error) {
      if (!isCloudError(error, 'not-found')) throw error;
      // nova names the server that it does not have. What does not, may be a 404 about something else.
      if (error.message.includes(id)) return { kind: 'absent', proof: `GET ${path}: ${error.message}` };
      throw new CloudError('unavailable', `GET ${path}: a 404 that does not name the server: ${error.message}`);
    }
  }

  /** nova's filter is a regular expression, and some databases pay no heed to case: what it lets through is looked at again. */
  async #byName(name: string, call: CallContext): Promise<ServerResult> {
    const servers = await this.#client().list<Server>(call, {
      service: 'compute',
      operation: 'GET /servers/detail?name',
      path: '/servers/detail',
      collection: 'servers',
      query: [['name', `^${name.replaceAll(/[\\^$.*+?()[\]{}|]/g, '\\$&')}$`]],
      microversion: await this.#microversion(call),
    });
    return theOnly(
      name,
      servers.filter((server) => nameKey(server.name) === nameKey(name)),
    );
  }

  async #list(call: CallContext): Promise<Listed> {
    const asOf = this.#clock.monotonic();
    // Without `limit`: with it, nova leaves out the servers of a cell that it cannot reach even where one page holds all.
    const servers = await this.#client().list<Server>(call, {
      service: 'compute',
      operation: 'GET /servers/detail',
      path: '/servers/detail',
      collection: 'servers',
      microversion: await this.#microversion(call),
    });
    this.#inProject = servers.length;
    return {
      asOf,
      byId: new Map(servers.map((server) => [server.id, server])),
      byName: Map.groupBy(servers, ({ name }) => nameKey(name)),
    };
  }

  #fromList(asked: AskedServer, { asOf, byId, byName }: Listed): ServerAnswer {
    switch (asked.by) {
      case 'id': {
        const server = byId.get(asked.id);
        return { asOf, result: server ? { kind: 'found', server } : { kind: 'missing' } };
      }
      case 'name':
        return { asOf, result: theOnly(asked.name, byName.get(nameKey(asked.name)) ?? []) };
      default:
        return { asOf, result: notAsked(asked) };
    }
  }

  /** A list proves nothing of what is not in it. */
  #confirmed(
    asked: readonly AskedServer[],
    answers: readonly ServerAnswer[],
    call: CallContext,
  ): Promise<readonly ServerAnswer[]> {
    let left = MOST_CONFIRMED;
    return Promise.all(
      answers.map(async (answer, at) => {
        const one = asked[at];
        if (one?.by !== 'id' || answer.result.kind !== 'missing' || left-- <= 0) return answer;
        return this.#settled(one, call);
      }),
    );
  }

  /** The least that says all that is needed. A nova that is older serves too, and what is lost is said once. */
  async #microversion(call: CallContext): Promise<string> {
    const max = await this.#client().maxMicroversion(call, 'compute');
    if (max !== undefined && minor(max) >= minor(WITH_UNKNOWN)) return WITH_UNKNOWN;
    if (max === undefined || minor(max) < minor(WITH_FLAVOR)) {
      const message = `nova offers microversion ${max ?? '2.1'}, and at least ${WITH_FLAVOR} (OpenStack Pike) is needed`;
      throw new CloudError('unsupported', message);
    }
    if (!this.#warned) {
      call.logger.warn('nova is older than 2.69: servers of a cell that it cannot reach are missing, not UNKNOWN', {
        max,
      });
      this.#warned = true;
    }
    return max;
  }
}

/** Codes that say nothing of the one server: nova, or the way to it, does not work. */
const OF_THE_SERVICE: readonly CloudErrorCode[] = [
  'unavailable',
  'timeout',
  'throttled',
  'unauthenticated',
  'forbidden',
];

/** The host then asks each once, and not as often as the call budget allows, until it works again. */
function throwWhereAllFailed(answers: readonly ServerAnswer[], inCloud: number): void {
  const errors = answers.flatMap(({ result }) => (result.kind === 'failed' ? [result.error] : []));
  const ofTheService = errors.filter((error) => OF_THE_SERVICE.some((code) => isCloudError(error, code)));
  const [first] = ofTheService;
  if (first && ofTheService.length === inCloud) throw first;
}

interface Listed {
  readonly asOf: number;
  readonly byId: ReadonlyMap<string, Server>;
  readonly byName: ReadonlyMap<string, readonly Server[]>;
}

function notAsked(asked: Extract<AskedServer, { by: 'nothing' | 'error' }>): ServerResult {
  return asked.by === 'error' ? { kind: 'failed', error: asked.error } : { kind: 'missing' };
}

function theOnly(name: string, servers: readonly Server[]): ServerResult {
  const [server, ...others] = servers;
  if (!server) return { kind: 'missing' };
  if (others.length === 0) return { kind: 'found', server };
  const ids = servers.map(({ id }) => id).toSorted();
  const message = `node ${name}: ${ids.length} servers have this name (${ids.slice(0, 3).join(', ')}${ids.length > 3 ? ', …' : ''}); rename all but one`;
  return { kind: 'failed', error: new CloudError('conflict', message) };
}

/** A kubelet registers its host name in small letters, whatever the server's name is. */
function nameKey(name = ''): string {
  return name.toLowerCase();
}

function pathOf(id: string): string {
  return `/servers/${encodeURIComponent(id)}`;
}

function minor(version: string): number {
  return Number(version.split('.')[1]);
}
