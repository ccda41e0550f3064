/** What is asked of nova about servers, request by request. */
import { CloudError, isCloudError, quote, type CallContext } from '@outrigger/cloud-provider';
import type { ApiClient } from '../client/api-client.ts';
import { compareMicroversions } from '../client/microversion.ts';
import { listOf, operation } from '../client/operation.ts';
import { isUuid } from '../uuid.ts';
import type { Server } from './server.ts';

/** From here on, nova says UNKNOWN of servers in a cell that it cannot reach; below, it leaves them out of lists, and a GET is a 500. */
const WITH_UNKNOWN = '2.69';
/** From here on, the reason of a lock is in the server. */
const WITH_LOCK_REASON = '2.73';
/** From here on, the flavor's name is in the server. */
const WITH_FLAVOR = '2.47';

const SERVERS: ReturnType<typeof listOf> = { ...listOf('compute', '/servers/detail'), collection: 'servers' };

interface InstanceAction {
  readonly instance_uuid?: string;
}

export class NovaServers {
  readonly #client: ApiClient;
  #warned = false;

  constructor(client: ApiClient) {
    this.#client = client;
  }

  /** The server, or nova's own word that there is none. */
  async read(id: string, call: CallContext): Promise<Server | { readonly absent: string }> {
    if (!isUuid(id)) {
      // Another path of nova's would answer for itself, and its databases find an ID in other letters too.
      const message = `${quote(id)} is not a server ID in nova's form (a UUID in lower case, with dashes), so nova is not asked: correct the node's provider ID`;
      throw new CloudError('invalid', message);
    }
    const path = `/servers/${id}`;
    const microversion = await this.#microversion(call);
    try {
      const { server } = await this.#client.request<{ server?: Server }>(call, {
        ...operation('compute', 'GET /servers/{id}', id),
        microversion,
      });
      if (server?.id === id) return server;
      throw new CloudError('unavailable', `GET ${path}: nova's answer is not of this server`);
    } catch (error) {
      if (!isCloudError(error, 'not-found')) throw error;
      // nova names the server that it does not have. What does not, may be a 404 about something else.
      if (error.message.includes(id)) return { absent: `GET ${path}: ${error.message}` };
      throw new CloudError('unavailable', `GET ${path}: a 404 that does not name the server: ${error.message}`);
    }
  }

  /**
   * Whether nova still knows what was done with a server that is not there any more: it shows that to the server's own project,
   * until its database is cleaned of what was deleted.
   */
  async had(id: string, call: CallContext): Promise<boolean> {
    try {
      const { instanceActions = [] } = await this.#client.request<{ instanceActions?: readonly InstanceAction[] }>(
        call,
        {
          ...operation('compute', 'GET /servers/{id}/os-instance-actions', id),
          microversion: await this.#microversion(call),
        },
      );
      return instanceActions.some((action) => action.instance_uuid === id);
    } catch (error) {
      if (isCloudError(error, 'not-found') || isCloudError(error, 'forbidden')) return false;
      throw error;
    }
  }

  /** Those that nova's filter lets through: a regular expression, for which some databases pay no heed to case. */
  async like(name: string, call: CallContext): Promise<readonly Server[]> {
    return this.#client.list<Server>(call, {
      ...SERVERS,
      operation: 'GET /servers/detail?name',
      query: [['name', `^${name.replaceAll(/[\\^$.*+?()[\]{}|]/g, '\\$&')}$`]],
      microversion: await this.#microversion(call),
    });
  }

  /** Those of the project, as far as nova can see them now. */
  async list(call: CallContext): Promise<readonly Server[]> {
    // Without `limit`: with it, nova leaves out the servers of a cell that it cannot reach even where one page holds all.
    return this.#client.list<Server>(call, {
      ...SERVERS,
      microversion: await this.#microversion(call),
    });
  }

  /** Of the server as nova's first microversion shows it. */
  async flavorIdOf(id: string, call: CallContext): Promise<string | undefined> {
    const request = operation('compute', 'GET /servers/{id}', id);
    const { server } = await this.#client.request<{ server?: Server }>(call, request);
    return server?.flavor?.id;
  }

  /** The least that says all that is needed. A nova that is older serves too, and what is lost is said once. */
  async #microversion(call: CallContext): Promise<string> {
    const max = await this.#client.maxMicroversion(call, 'compute');
    if (max !== undefined && compareMicroversions(max, WITH_LOCK_REASON) >= 0) return WITH_LOCK_REASON;
    if (max === undefined || compareMicroversions(max, WITH_FLAVOR) < 0) {
      const message = `nova offers microversion ${max ?? '2.1'}, and at least ${WITH_FLAVOR} (OpenStack Pike) is needed`;
      throw new CloudError('unsupported', message);
    }
    if (compareMicroversions(max, WITH_UNKNOWN) < 0 && !this.#warned) {
      call.logger.warn(
        'Nova is older than microversion 2.69: servers of a cell that it cannot reach are missing from lists, not UNKNOWN',
        {
          max,
        },
      );
      this.#warned = true;
    }
    return max;
  }
}
