/** For tests: the instances over the fake OpenStack, through the real client and the host's side of the contract. */
import type { CloudProvider, NodeRef } from '@outrigger/cloud-provider';
import { openProvider, type OpenedProvider } from '@outrigger/cloud-runtime';
import { silentLogger } from '@outrigger/kube';
import { FakeClock } from '@outrigger/testing';
import { connectionOf } from '../client/connection.ts';
import { OpenStackClient } from '../client/openstack-client.ts';
import { readCloudConfig } from '../config/read-cloud-config.ts';
import { createFakeOpenStack, type FakeOpenStack } from '../fake/fake-openstack.ts';
import { seededRandom } from '../fake/seeded-random.ts';
import { seedProject, type SeededProject } from '../fake/seed-project.ts';
import { serveFakeOpenStack } from '../fake/serve-fake-openstack.ts';
import { OpenStackInstances } from './openstack-instances.ts';

export interface FakeCluster extends AsyncDisposable {
  readonly clock: FakeClock;
  readonly cloud: FakeOpenStack;
  readonly seeded: SeededProject;
  readonly opened: OpenedProvider;
}

/** `networking`: lines of `[Networking]`. */
export async function openFakeCluster({
  networking = '',
}: { readonly networking?: string } = {}): Promise<FakeCluster> {
  const clock = new FakeClock();
  const cloud = createFakeOpenStack({ clock, random: seededRandom(1) });
  const seeded = seedProject(cloud);
  const served = await serveFakeOpenStack(cloud);
  const text = `
[Global]
auth-url = ${served.authUrl}
username = k8s
password = k8s
user-domain-id = default
tenant-name = k8s
tenant-domain-id = default
region = ${cloud.region}
[Networking]
${networking}`;
  const opened = await openProvider(instancesProvider(text), {
    cluster: { id: 'cluster-1', name: 'test' },
    clock,
    logger: silentLogger,
    random: () => 0,
    budget: { maxAttempts: 1, buckets: { default: { qps: 100_000 } } },
  });
  return {
    clock,
    cloud,
    seeded,
    opened,
    [Symbol.asyncDispose]: async () => {
      await opened[Symbol.asyncDispose]();
      await served[Symbol.asyncDispose]();
    },
  };
}

/** The node that a kubelet registers on this server. */
export function nodeOf(name: string, id?: string): NodeRef {
  const providerID = id === undefined ? undefined : `openstack:///${id}`;
  return { name, uid: `uid-${name}`, providerID, labels: {}, annotations: {} };
}

/** Instances and nothing else, so that what is counted is theirs. */
function instancesProvider(text: string): CloudProvider {
  let client: OpenStackClient | undefined;
  return {
    name: 'openstack',
    open: async (host) => {
      const environment = { env: {}, workingDirectory: '/', homeDirectory: '/' };
      const config = await readCloudConfig({ fileName: 'cloud.conf', text }, environment, () => {});
      const opened = new OpenStackClient({
        connection: await connectionOf(config, 'cloud.conf', {}),
        host,
        userAgent: 'test',
      });
      client = opened;
      return {
        instances: new OpenStackInstances({
          name: 'openstack',
          client: () => opened,
          config: () => config,
          clock: host.clock,
        }),
      };
    },
    close: async () => {
      await client?.[Symbol.asyncDispose]();
    },
  };
}
