/** Servers of nova: one directly, or many by the cheaper of the project's list and one request for each. */
import {
  asError,
  CloudError,
  isCloudError,
  type CallContext,
  type Clock,
  type CloudErrorCode,
} from '@outrigger/cloud-provider';
import type { Home } from '../home.ts';
import { isCheaper, listCost } from './look-up-cost.ts';
import type { NovaServers } from './nova-servers.ts';
import type { AskedServer } from './provider-ids.ts';
import type { Server } from './server.ts';

export type ServerResult =
  | { readonly kind: 'found'; readonly server: Server }
  | { readonly kind: 'missing' }
  | { readonly kind: 'absent'; readonly proof: string; readonly wasHere?: true }
  | { readonly kind: 'failed'; readonly error: Error };

export interface ServerAnswer {
  readonly asOf: number;
  readonly result: ServerResult;
}

/** nova's `max_limit`, as it comes. */
const PAGE_SIZE = 1000;
/** Servers that are not in a list and are asked for one by one, in one look-up: a lost cell is not asked for each of its own. */
const MOST_CONFIRMED = 20;

export interface ServerLookUpOptions {
  readonly nova: NovaServers;
  readonly clock: Clock;
  /** Told of the servers that are found, and asked what a 404 proves. */
  readonly home: Home;
}

export class ServerLookUp {
  readonly #nova: NovaServers;
  readonly #clock: Clock;
  readonly #home: Home;
  /** Servers of the project when it was last listed. */
  #inProject: number | undefined;

  constructor({ clock, home, nova }: ServerLookUpOptions) {
    this.#nova = nova;
    this.#clock = clock;
    this.#home = home;
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

  async #settled(asked: AskedServer, call: CallContext): Promise<ServerAnswer> {
    const asOf = this.#clock.monotonic();
    try {
      return await this.one(asked, call);
    } catch (error) {
      return { asOf, result: { kind: 'failed', error: asError(error) } };
    }
  }

  async #byId(id: string, call: CallContext): Promise<ServerResult> {
    const read = await this.#nova.read(id, call);
    if (!('absent' in read)) {
      this.#home.sawById();
      return { kind: 'found', server: read };
    }
    return this.#home.machineGone({ id, proof: read.absent, remembers: () => this.#nova.had(id, call) }, call);
  }

  async #byName(name: string, call: CallContext): Promise<ServerResult> {
    const servers = await this.#nova.like(name, call);
    return this.#theOnly(
      name,
      servers.filter((server) => nameKey(server.name) === nameKey(name)),
    );
  }

  #theOnly(name: string, servers: readonly Server[]): ServerResult {
    const [server, ...others] = servers;
    if (!server) return { kind: 'missing' };
    if (others.length > 0) return { kind: 'failed', error: ambiguous(name, servers) };
    this.#home.sawByName(server.id);
    return { kind: 'found', server };
  }

  async #list(call: CallContext): Promise<Listed> {
    const asOf = this.#clock.monotonic();
    const servers = await this.#nova.list(call);
    this.#inProject = servers.length;
    // Pages move when servers come and go between them: one server may be in two.
    const byId = new Map(servers.map((server) => [server.id, server]));
    return { asOf, byId, byName: Map.groupBy(byId.values(), ({ name }) => nameKey(name)) };
  }

  #fromList(asked: AskedServer, { asOf, byId, byName }: Listed): ServerAnswer {
    switch (asked.by) {
      case 'id': {
        const server = byId.get(asked.id);
        if (server) this.#home.sawById();
        return { asOf, result: server ? { kind: 'found', server } : { kind: 'missing' } };
      }
      case 'name':
        return { asOf, result: this.#theOnly(asked.name, byName.get(nameKey(asked.name)) ?? []) };
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

function ambiguous(name: string, servers: readonly Server[]): CloudError {
  const ids = servers.map(({ id }) => id).toSorted();
  const message = `node ${name}: ${ids.length} servers have this name (${ids.slice(0, 3).join(', ')}${ids.length > 3 ? ', …' : ''}); rename all but one`;
  return new CloudError('conflict', message);
}

/** A kubelet registers its host name in small letters, whatever the server's name is. */
function nameKey(name = ''): string {
  return name.toLowerCase();
}
