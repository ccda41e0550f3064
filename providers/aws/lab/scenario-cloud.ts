/** What a scenario works on, whether moto or the fake is behind it: it is written once and run on both. */
import {
  AttachNetworkInterfaceCommand,
  CreateNetworkInterfaceCommand,
  CreateVolumeCommand,
  DescribeInstancesCommand,
  TerminateInstancesCommand,
  type EC2Client,
  type Instance,
} from '@aws-sdk/client-ec2';
import type { CallContext, NodeRef, ProviderHost } from '@outrigger/cloud-provider';
import type { TestContext } from 'node:test';
import { openProvider } from '@outrigger/cloud-runtime';
import { silentLogger, systemClock } from '@outrigger/kube';
import type { Fetch } from '@outrigger/provider-kit';
import { createAwsClient, type AwsClient } from '../src/client/aws-client.ts';
import { placeOf } from '../src/cluster/account.ts';
import type { AwsSetup } from '../src/cluster/aws-setup.ts';
import { OwnCluster } from '../src/cluster/own-cluster.ts';
import { readAwsConfig } from '../src/config/read-aws-config.ts';
import type { AwsRoutesSetup } from '../src/routes/aws-routes.ts';
import type { Moto } from './moto.ts';
import {
  LAB_CLUSTER,
  LAB_KEYS,
  LAB_REGION,
  labEc2,
  runInstances,
  seedAccount,
  type SeededAccount,
  type SeededInstance,
} from './seed-account.ts';

/** A cloud, and what a test may do to it beside the provider. */
export interface LabCloud {
  /** For our client: whatever end point of AWS it asks for. */
  readonly fetch: Fetch;
  /** Made by people who know nothing of this provider: what it reads there, others read. */
  readonly sdk: EC2Client;
  readonly account: SeededAccount;
  addInstances(count: number): Promise<readonly SeededInstance[]>;
  /** With two network interfaces. */
  addWideInstance(): Promise<SeededInstance>;
  /** Resolves with its ID. */
  addVolume(zone: string): Promise<string>;
  terminate(instanceId: string): Promise<void>;
}

/** A cloud, our client of it, and the official SDK beside it. */
export interface Scenario extends AsyncDisposable {
  readonly cloud: LabCloud;
  readonly client: AwsClient;
  /** What routes and volumes are made with. */
  readonly setup: AwsRoutesSetup;
  readonly sdk: EC2Client;
  /** Each operation that was sent, in order. */
  readonly sent: string[];
  /** A new one for each call of the contract, as the host gives them. */
  call(): CallContext;
}

/** `undefined`: there is no such cloud here, and the test was skipped. */
export type StartCloud = (t: TestContext) => Promise<LabCloud | undefined>;

/** Ends with the test. */
export async function scenarioOf(start: StartCloud, t: TestContext): Promise<Scenario | undefined> {
  const cloud = await start(t);
  if (!cloud) return undefined;
  const scenario = await openScenario(cloud);
  t.after(() => scenario[Symbol.asyncDispose]());
  return scenario;
}

async function openScenario(cloud: LabCloud): Promise<Scenario> {
  let host: ProviderHost | undefined;
  const opened = await openProvider(
    {
      name: 'aws',
      open: async (given) => {
        host = given;
        return {};
      },
      close: async () => {},
    },
    {
      cluster: { id: 'uid-of-kube-system', name: LAB_CLUSTER },
      clock: systemClock,
      logger: silentLogger,
      random: () => 0,
    },
  );
  if (!host) throw new Error('the provider was not opened');
  const sent: string[] = [];
  const client = createAwsClient({ host, region: LAB_REGION, credentials: LAB_KEYS, fetch: noting(cloud.fetch, sent) });
  const ended = new AbortController();
  return {
    cloud,
    client,
    sdk: cloud.sdk,
    sent,
    setup: {
      client,
      config: () => ({ routeTableId: undefined }),
      cluster: { learn: async () => ({ tags: { id: LAB_CLUSTER, isLegacy: false } }) },
    },
    call: () => opened.callContext({ signal: ended.signal, priority: 'normal' }),
    [Symbol.asyncDispose]: async () => {
      ended.abort();
      cloud.sdk.destroy();
      await client[Symbol.asyncDispose]();
      await opened[Symbol.asyncDispose]();
    },
  };
}

/** What instances and load balancers are made with, as of a process that has just started. */
export function awsSetupOf(scenario: Scenario): AwsSetup {
  const { client, cloud } = scenario;
  const host: ProviderHost = {
    cluster: { id: 'uid-of-kube-system', name: LAB_CLUSTER },
    clock: systemClock,
    config: undefined,
    logger: silentLogger,
    callContext: () => scenario.call(),
    capabilitiesChanged: () => {},
    redact: () => {},
  };
  const text = `[Global]\nKubernetesClusterID = ${LAB_CLUSTER}\nVPC = ${cloud.account.vpcId}\n`;
  const config = readAwsConfig({ text, fileName: 'aws.conf' }, () => {});
  return {
    name: 'aws',
    host,
    client,
    config: () => config,
    cluster: new OwnCluster({ client, config: () => config }),
    place: placeOf(client),
  };
}

/** Forgets what moto had, and seeds it with so many instances. */
export async function motoCloud(moto: Moto, instances: number): Promise<LabCloud> {
  await moto.reset();
  const sdk = labEc2(moto.url);
  const account = await seedAccount(sdk, instances);
  return {
    fetch: sentTo(moto.url),
    sdk,
    account,
    addInstances: (count) => runInstances(sdk, account, count),
    async addWideInstance() {
      const [instance] = await runInstances(sdk, account, 1);
      const [SubnetId] = account.subnetIds;
      const { NetworkInterface: second } = await sdk.send(new CreateNetworkInterfaceCommand({ SubnetId }));
      const NetworkInterfaceId = second?.NetworkInterfaceId;
      if (!instance) throw new Error('moto made no instance');
      await sdk.send(
        new AttachNetworkInterfaceCommand({ DeviceIndex: 1, InstanceId: instance.id, NetworkInterfaceId }),
      );
      return instance;
    },
    async addVolume(zone) {
      const { VolumeId: id } = await sdk.send(new CreateVolumeCommand({ AvailabilityZone: zone, Size: 1 }));
      if (!id) throw new Error('moto made no volume');
      return id;
    },
    async terminate(instanceId) {
      await sdk.send(new TerminateInstancesCommand({ InstanceIds: [instanceId] }));
    },
  };
}

/** As the official SDK reads it. */
export async function describeInstance({ sdk }: LabCloud, id: string): Promise<Instance> {
  const { Reservations: found } = await sdk.send(new DescribeInstancesCommand({ InstanceIds: [id] }));
  const instance = found?.[0]?.Instances?.[0];
  if (!instance) throw new Error(`there is no instance ${id}`);
  return instance;
}

export function nodeOf({ id, name, zone }: SeededInstance): NodeRef {
  return { name, uid: `uid-${id}`, providerID: `aws:///${zone}/${id}`, labels: {}, annotations: {} };
}

/** The credential's scope says which API is asked, whatever the host. */
function sentTo(origin: string): Fetch {
  return (url, { body, headers, method, signal }) =>
    fetch(new URL(new URL(url).pathname, origin), { body: body ?? null, headers, method, signal });
}

function noting(send: Fetch, sent: string[]): Fetch {
  return (url, request) => {
    sent.push(new URLSearchParams(request.body ?? '').get('Action') ?? '');
    return send(url, request);
  };
}
