/** For tests: the instances over the scripted client, with a cloud config in which nothing is set. */
import { FakeClock } from '@outrigger/testing';
import { Home } from '../home.ts';
import { OpenStackInstances } from './openstack-instances.ts';
import { ScriptedClient } from './scripted-client.ts';
import type { Server } from './server.ts';

export interface ScriptedInstances {
  readonly client: ScriptedClient;
  readonly instances: OpenStackInstances;
  readonly clock: FakeClock;
}

export function scriptedInstances({
  servers = [],
  regional = false,
}: { readonly servers?: readonly Server[]; readonly regional?: boolean } = {}): ScriptedInstances {
  const client = new ScriptedClient();
  client.servers = servers;
  const clock = new FakeClock();
  const networking = {
    ipv6SupportDisabled: false,
    publicNetworkName: [],
    internalNetworkName: [],
    addressSortOrder: [],
  };
  const config = { networking, regional };
  const home = new Home();
  const instances = new OpenStackInstances({ name: 'openstack', client, config: () => config, clock, home });
  return { client, instances, clock };
}
