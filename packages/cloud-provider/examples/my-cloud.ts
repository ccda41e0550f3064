import {
  CloudError,
  errorCodeOfStatus,
  formatProviderID,
  isCloudError,
  parseProviderID,
  type CallContext,
  type CloudProvider,
  type ConfigText,
  type Instance,
  type Instances,
  type NodeRef,
} from '@outrigger/cloud-provider';

const NAME = 'my-cloud';

/** As the cloud's API shows it. */
interface Server {
  readonly id: string;
  readonly name: string;
  readonly status: 'active' | 'stopped' | 'error';
  readonly plan: string;
  readonly zone: string;
  readonly region: string;
  readonly privateIp: string;
}

export default (): CloudProvider => ({
  name: NAME,
  // Before anything is connected to: a wrong config is told at once, and not only when the API server has answered.
  checkConfig: async (config) => void readConfig(config),
  async open(host) {
    const { endpoint, token } = readConfig(host.config);
    host.redact(token); // before it is first used
    return { instances: instancesOf(restClient(endpoint, token)) };
  },
  async close() {},
});

function readConfig(config: ConfigText | undefined): { endpoint: string; token: string } {
  if (!config) throw new CloudError('configuration', `${NAME} needs --cloud-config, JSON with endpoint and token`);
  try {
    const { endpoint, token } = JSON.parse(config.text) as Record<string, unknown>;
    if (typeof endpoint === 'string' && typeof token === 'string') return { endpoint, token };
  } catch {
    // Not quoted in the message: the text holds the token.
  }
  throw new CloudError('configuration', `${config.fileName}: must be JSON with endpoint and token`);
}

/** Reads a path of the API. `operation` is a metric label, so there are no IDs in it. */
type Get = (call: CallContext, operation: string, path: string) => Promise<unknown>;

function restClient(endpoint: string, token: string): Get {
  return (call, operation, path) =>
    call.call({ name: operation, idempotent: true }, async (signal) => {
      let response: Response;
      let text: string;
      try {
        response = await fetch(`${endpoint}${path}`, { signal, headers: { authorization: `Bearer ${token}` } });
        text = await response.text();
      } catch (cause) {
        signal.throwIfAborted();
        throw new CloudError('unavailable', `${operation}: ${endpoint} could not be reached`, { cause });
      }
      const body = parseJson(text);
      if (response.ok && body) return body;
      if (response.ok) throw new CloudError('unavailable', `${operation}: the answer is not JSON`);
      const code = errorCodeOfStatus(response.status);
      // This cloud says `server_not_found` itself. Any other 404 (a proxy, a wrong path) proves nothing.
      const certain = code !== 'not-found' || body?.['error'] === 'server_not_found';
      const retryAfter = Number(response.headers.get('retry-after') ?? Number.NaN);
      throw new CloudError(certain ? code : 'unavailable', `${operation}: status ${response.status}`, {
        retryAfterMs: Number.isFinite(retryAfter) ? retryAfter * 1000 : undefined,
      });
    });
}

function parseJson(text: string): Record<string, unknown> | undefined {
  try {
    return JSON.parse(text) as Record<string, unknown>;
  } catch {
    return undefined;
  }
}

function instancesOf(get: Get): Instances {
  return {
    // One request lists them all, so a batch is as large as it likes.
    batchSize: 500,

    async lookUp(nodes, _need, call) {
      const { servers } = (await get(call, 'GET /servers', '/servers')) as { servers: readonly Server[] };
      const byName = new Map(servers.map((server) => [server.name, server]));
      const byId = new Map(servers.map((server) => [server.id, server]));
      return nodes.map((node) => {
        const server = node.providerID ? byId.get(idOf(node) ?? '') : byName.get(node.name);
        // A list proves no absence: `missing`.
        return { result: server ? { kind: 'found', instance: instanceOf(server) } : { kind: 'missing' } };
      });
    },

    async read(node, _need, call) {
      const id = idOf(node);
      if (id === undefined) return { result: { kind: 'missing' } };
      try {
        const server = (await get(call, 'GET /servers/{id}', `/servers/${encodeURIComponent(id)}`)) as Server;
        return { result: { kind: 'found', instance: instanceOf(server) } };
      } catch (error) {
        if (!isCloudError(error, 'not-found')) throw error;
        return { result: { kind: 'absent', proof: `GET /servers/${id}: 404 server_not_found` } };
      }
    },
  };
}

function idOf({ providerID }: NodeRef): string | undefined {
  return parseProviderID(providerID, NAME);
}

function instanceOf({ id, status, plan, zone, region, privateIp }: Server): Instance {
  return {
    providerID: formatProviderID(NAME, id),
    state: status === 'stopped' ? 'shutdown' : 'running',
    type: plan,
    zone,
    region,
    addresses: [{ type: 'InternalIP', address: privateIp }],
  };
}
