/** The machines of the cloud, as the node controllers ask for them. */
import { ClusterPlace, type Instances } from '@outrigger/cloud-provider';
import { instancesFromList, type HttpClient } from '@outrigger/provider-kit';
import { collection, NAME } from './cloud-api.ts';

/** As `GET /servers` shows it. */
interface Server {
  readonly id: string;
  readonly name: string;
  readonly status: 'active' | 'stopped' | 'error';
  readonly plan: string;
  readonly zone: string;
  readonly region: string;
  readonly privateIp: string;
}

/** The account that the token leads to. A "not found" proves nothing until a machine of the cluster was seen in it. */
export function placeOf(api: HttpClient): ClusterPlace {
  return new ClusterPlace({
    what: 'account',
    setBy: 'token in the cloud config',
    ask: async (call) => (await api.request<{ readonly number: string }>(call, 'GET /accounts/me')).number,
  });
}

export function instancesOf(api: HttpClient, place: ClusterPlace): Instances {
  return instancesFromList<Server>({
    name: NAME,
    place,
    machines: collection<Server>(api, '/servers'),
    instanceOf: ({ id, name, plan, privateIp, region, status, zone }) => ({
      id,
      name,
      state: status === 'stopped' ? 'shutdown' : 'running',
      type: plan,
      zone,
      region,
      addresses: [{ type: 'InternalIP', address: privateIp }],
    }),
  });
}
