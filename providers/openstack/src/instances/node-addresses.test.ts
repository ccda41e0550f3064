import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { NetworkingConfig } from '../config/cloud-config.ts';
import golden from './golden/node-addresses.json' with { type: 'json' };
import { nodeAddresses } from './node-addresses.ts';
import type { Port, SubportAddress } from './server-ports.ts';
import type { Server } from './server.ts';

/** What a vector leaves out is as it is by default. */
interface Vector {
  readonly name: string;
  /** The test of kubernetes/cloud-provider-openstack whose table it is (pkg/openstack/openstack_test.go). */
  readonly upstream?: string;
  readonly options: Partial<NetworkingConfig>;
  readonly server: Partial<Server>;
  readonly ports: readonly Pick<Port, 'status' | 'fixed_ips'>[];
  readonly subports?: readonly SubportAddress[];
  /** Type and address. */
  readonly want: readonly string[];
}

const noOptions: NetworkingConfig = {
  ipv6SupportDisabled: false,
  publicNetworkName: [],
  internalNetworkName: [],
  addressSortOrder: [],
};

for (const { name, upstream = 'ours', options, server, ports, subports = [], want } of golden as readonly Vector[]) {
  test(`golden vector: ${name} (${upstream})`, () => {
    const all = ports.map((port, at): Port => ({
      ...port,
      id: `port-${at}`,
      device_id: 'server-1',
      network_id: 'net-1',
    }));
    const found = nodeAddresses(
      { id: 'server-1', status: 'ACTIVE', ...server },
      { ports: all, subports },
      { ...noOptions, ...options },
    );
    assert.deepEqual(
      found.map(({ type, address }) => `${type} ${address}`),
      want,
    );
  });
}
