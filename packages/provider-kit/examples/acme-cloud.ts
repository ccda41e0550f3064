import type { CloudProvider, Instances, LoadBalancers, ProviderHost, Routes } from '@outrigger/cloud-provider';
import {
  annotationTable,
  HttpClient,
  instancesFromList,
  nextByToken,
  ownerIn,
  partLoadBalancers,
  readConfig,
  required,
  RestCollection,
  restPartCalls,
  routesOneByOne,
  secret,
  tagsOf,
  text,
  url,
  type Attributes,
  type ListedPart,
  type PartKind,
} from '@outrigger/provider-kit';

const NAME = 'acme';
const schema = {
  endpoint: required(url, 'root of the API'),
  token: secret(required(text, 'token of the account')),
};
const annotations = annotationTable({
  size: { name: 'lb.acme.example/size', values: ['small', 'large'], meaning: 'Size. Default: small.' },
});

export default (): CloudProvider => {
  let api: HttpClient | undefined;
  return {
    name: NAME,
    checkConfig: async (config) => void readConfig(schema, config, { provider: NAME }),
    async open(host) {
      const { endpoint, token } = readConfig(schema, host.config, { provider: NAME, host });
      api = new HttpClient({
        host,
        cloud: 'Acme',
        root: endpoint,
        headers: { authorization: `Bearer ${token}` },
        errors: [
          { status: 404, code: 'not_found', means: 'not-found' },
          { code: 'quota', means: 'quota' },
        ],
      });
      return { instances: instancesOf(api), loadBalancers: balancersOf(host, api), routes: routesOf(host, api) };
    },
    close: async () => api?.[Symbol.asyncDispose](),
  };
};

interface Thing extends Attributes {
  readonly id: string;
  readonly labels?: Readonly<Record<string, string>>;
}

function things<T extends Thing>(api: HttpClient, path: `/${string}`): RestCollection<T> {
  const next = nextByToken('page', (body) => (body as { readonly next?: number }).next);
  return new RestCollection<T>(api, path, { items: 'items', next });
}

interface Server extends Thing {
  readonly name: string;
  readonly status: 'active' | 'stopped' | 'error';
  readonly ip: string;
  readonly zone: string;
}

function instancesOf(api: HttpClient): Instances {
  return instancesFromList<Server>({
    name: NAME,
    machines: things<Server>(api, '/servers'),
    instanceOf: ({ id, ip, name, status, zone }) => ({
      id,
      name,
      state: status === 'stopped' ? 'shutdown' : 'running',
      type: 'm1',
      zone,
      region: zone.slice(0, -1),
      addresses: [{ type: 'InternalIP', address: ip }],
    }),
  });
}

function routesOf(host: ProviderHost, api: HttpClient): Routes {
  const routes = things<Thing & { readonly destination: string; readonly server?: string }>(api, '/routes');
  return routesOneByOne({
    list: async (call) =>
      (await routes.list(call)).map(({ destination, id, labels, server }) => ({
        id,
        destination,
        targetProviderID: server && `${NAME}://${server}`,
        blackhole: server === undefined,
        ownership: ownerIn(labels)?.clusterId === host.cluster.id ? 'owned' : 'foreign',
      })),
    create: async ({ destination, node: { providerID = '', uid } }, call) => {
      const labels = tagsOf({ clusterId: host.cluster.id, uid });
      await routes.create({ destination, server: providerID.slice(`${NAME}://`.length), labels }, call);
    },
    delete: ({ id }, call) => routes.delete(id, call),
  });
}

function balancersOf(host: ProviderHost, api: HttpClient): LoadBalancers {
  const partOf = ({ id, ip, labels, ...attributes }: Thing & { readonly ip?: string }): ListedPart => {
    return { id, owner: ownerIn(labels), state: 'ready', attributes, ...(ip && { addresses: [ip] }) };
  };
  const kind = (name: string, path: `/${string}`, own: Pick<PartKind, 'members' | 'needs' | 'wanted'>): PartKind => ({
    kind: name,
    ...restPartCalls(things(api, path), { partOf, ownerIn: (owner) => ({ labels: tagsOf(owner) }) }),
    ...own,
  });
  const address = kind('address', '/addresses', { wanted: () => [{ attributes: {} }] });
  const balancer = kind('load-balancer', '/load-balancers', {
    needs: ['address'],
    wanted: ({ service }, there) => {
      const { size = 'small' } = annotations.read(service.annotations);
      const ports = service.ports.map(({ nodePort, port }) => ({ port, nodePort }));
      return [{ attributes: { address: there('address')?.id, ports, size } }];
    },
    members: ({ backEnds }) => ({ targets: backEnds.map(({ node }) => node.providerID) }),
  });
  const firewall = kind('firewall', '/firewalls', {
    needs: ['load-balancer'],
    wanted: ({ service: { sourceRanges: sources } }, there) => [
      { attributes: { balancer: there('load-balancer')?.id, sources } },
    ],
  });
  const record = kind('dns', '/records', {
    needs: ['address', 'firewall'],
    wanted: ({ service: { name, namespace } }, there) => [
      { attributes: { name: `${name}.${namespace}`, target: there('address')?.addresses?.[0] } },
    ],
  });
  const kinds = [address, balancer, firewall, record];
  return partLoadBalancers({
    host,
    name: NAME,
    annotations: annotations.declared,
    features: { sourceRanges: true },
    kinds,
  });
}
