/** Nodes: which machine each of them is, and when a machine is gone. */
import type { Instances } from '@outrigger/cloud-provider';
import { instancesFromList, type HttpClient } from '@outrigger/provider-kit';
import { PROVIDER_NAME, thingsAt, type Thing } from './api.ts';

interface Server extends Thing {
  readonly name: string;
  readonly status: 'active' | 'stopped' | 'error';
  readonly ip: string;
  readonly zone: string;
  readonly size: string;
}

export function instancesOf(api: HttpClient): Instances {
  return instancesFromList<Server>({
    name: PROVIDER_NAME,
    machines: thingsAt<Server>(api, '/servers'),
    instanceOf: ({ id, ip, name, size, status, zone }) => ({
      id,
      name,
      // Shut down only where that is certain: such a node is tainted.
      state: status === 'stopped' ? 'shutdown' : 'running',
      type: size,
      zone,
      region: zone.slice(0, -1),
      addresses: [{ type: 'InternalIP', address: ip }],
    }),
  });
}
