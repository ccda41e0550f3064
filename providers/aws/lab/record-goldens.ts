/**
 * Records what cloud-provider-aws makes of nodes, routes and Services, on moto, on the fake and on a real control plane:
 *
 *     node providers/aws/lab/record-goldens.ts [moto] [fake]
 *
 * writes golden/cloud-provider-aws.json: of the clouds that are named, or of both. It takes six minutes, and ten more where cloud-provider-aws has to be built first.
 */
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { resources, systemClock, type Client, type Node, type ServicePort, type ServiceSpec } from '@outrigger/kube';
import {
  clientOf,
  freePort,
  hollowNode,
  ProcessGroup,
  startControlPlane,
  UNINITIALIZED_TAINT,
} from '@outrigger/testing';
import { countedEndpoint } from './counted-endpoint.ts';
import { endStateOf, labReaders } from './end-state.ts';
import { fakeLabCloud } from './fake-cloud.suite.ts';
import { GOLDEN_FILE, goldens, type Golden, type GoldenNode, type GoldenService } from './golden.ts';
import { Moto } from './moto.ts';
import { buildOfficial, officialConfig } from './official.ts';
import { LAB_ENV, seedAccount, type SeededAccount } from './seed-account.ts';

const NODES = 3;
const LIMIT_MS = 60_000;
/** It has asked for nothing for so long: it is done, or waits for its next round. */
const QUIET_MS = 4_000;
const PREFIX = 'service.beta.kubernetes.io/aws-load-balancer-';
const CLOUD_LABELS =
  /^(?:node\.kubernetes\.io\/instance-type|beta\.kubernetes\.io\/instance-type|(?:failure-domain\.beta|topology)\.k.*|topology\.k8s\.aws\/.*)$/u;

const PORTS: ServicePort[] = [{ name: 'http', port: 80, targetPort: 8080, nodePort: 30080, protocol: 'TCP' }];

interface Case {
  readonly name: string;
  readonly annotations: Readonly<Record<string, string>>;
  readonly spec?: ServiceSpec;
}

const NLB = { [`${PREFIX}type`]: 'nlb' };
const CASES: readonly Case[] = [
  { name: 'network', annotations: NLB },
  {
    name: 'internal',
    annotations: { ...NLB, [`${PREFIX}internal`]: 'true', [`${PREFIX}cross-zone-load-balancing-enabled`]: 'true' },
  },
  {
    name: 'local',
    annotations: { ...NLB, [`${PREFIX}target-group-attributes`]: 'preserve_client_ip.enabled=false' },
    spec: { externalTrafficPolicy: 'Local', healthCheckNodePort: 32000, loadBalancerSourceRanges: ['192.0.2.0/24'] },
  },
  {
    name: 'datagrams',
    annotations: NLB,
    spec: { ports: [{ name: 'dns', port: 53, targetPort: 53, nodePort: 30053, protocol: 'UDP' }] },
  },
];
const CERTIFICATE = 'arn:aws:acm:us-east-1:123456789012:certificate/0f1e2d3c-4b5a-6978-8796-a5b4c3d2e1f0';
const TLS = {
  [`${PREFIX}ssl-cert`]: CERTIFICATE,
  [`${PREFIX}ssl-ports`]: 'https',
  [`${PREFIX}ssl-negotiation-policy`]: 'ELBSecurityPolicy-TLS-1-2-2017-01',
};
const HTTPS: ServicePort = { name: 'https', port: 443, targetPort: 8443, nodePort: 30443, protocol: 'TCP' };
/** On the fake alone: moto knows no such certificate. */
const TLS_CASES: readonly Case[] = [
  { name: 'encrypted', annotations: { ...NLB, ...TLS }, spec: { ports: [...PORTS, HTTPS] } },
];
/** On the fake alone: moto answers a new one without its health check, and cloud-provider-aws panics then (nil pointer). */
const CLASSIC_CASES: readonly Case[] = [
  { name: 'classic', annotations: {} },
  {
    name: 'proxied',
    annotations: { [`${PREFIX}proxy-protocol`]: '*', [`${PREFIX}connection-draining-enabled`]: 'true' },
    spec: { loadBalancerSourceRanges: ['192.0.2.0/24', '198.51.100.0/24'] },
  },
  {
    name: 'classic-internal',
    annotations: {
      [`${PREFIX}internal`]: 'true',
      [`${PREFIX}cross-zone-load-balancing-enabled`]: 'true',
      [`${PREFIX}connection-idle-timeout`]: '120',
      [`${PREFIX}additional-resource-tags`]: 'team=shop',
    },
  },
  {
    name: 'classic-encrypted',
    annotations: { ...TLS, [`${PREFIX}backend-protocol`]: 'http' },
    spec: { ports: [...PORTS, HTTPS] },
  },
  {
    name: 'classic-local',
    annotations: { [`${PREFIX}healthcheck-healthy-threshold`]: '3' },
    spec: { externalTrafficPolicy: 'Local', healthCheckNodePort: 32000 },
  },
];

interface Recorded {
  readonly cloud: Golden['cloud'];
  readonly url: string;
  readonly account: SeededAccount;
}

async function until(what: string, holds: () => Promise<boolean>): Promise<void> {
  const began = systemClock.monotonic();
  while (!(await holds())) {
    if (systemClock.monotonic() - began > LIMIT_MS) {
      const told = (await readFile(log, 'utf8')).split('\n').filter((line) => /^[EW]/u.test(line));
      throw new Error(`not in time: ${what}\n${told.slice(-5).join('\n')}`);
    }
    await systemClock.sleep(200);
  }
}

function goldenNode({ metadata, spec, status }: Node, zone: string): GoldenNode {
  return {
    name: metadata?.name ?? '',
    zone,
    providerID: (spec?.providerID ?? '').replace(/i-[0-9a-f]+$/u, '<i>'),
    addresses: (status?.addresses ?? []).map(({ address, type }) => ({ type, address })),
    labels: Object.fromEntries(Object.entries(metadata?.labels ?? {}).filter(([key]) => CLOUD_LABELS.test(key))),
  };
}

async function makeNodes(client: Client, account: SeededAccount): Promise<void> {
  for (const [i, { name }] of account.instances.entries()) {
    const node = hollowNode({ name, images: 0 });
    await client
      .of(resources.nodes)
      .create({ ...node, spec: { ...node.spec, podCIDR: `10.244.${i}.0/24`, podCIDRs: [`10.244.${i}.0/24`] } });
  }
}

const official = await buildOfficial();
const clouds = process.argv.slice(2);
const isAsked = (cloud: Golden['cloud']): boolean => clouds.length === 0 || clouds.includes(cloud);
const kept = goldens().filter(({ cloud }) => !isAsked(cloud));
await using moto = isAsked('moto') ? await Moto.start() : undefined;
await using controlPlane = await startControlPlane({ auditLog: false });
await using group = new ProcessGroup();
await using client = await clientOf(controlPlane.kubeconfig.path);
const log = join(controlPlane.directory, 'official.log');

async function onMoto(config: readonly string[], cases: readonly Case[]): Promise<readonly Golden[]> {
  if (!moto) return [];
  await moto.reset();
  const account = await seedAccount(labReaders(moto.url).ec2, NODES);
  return [await record({ cloud: 'moto', url: moto.url, account }, config, cases)];
}

async function record(
  { account, cloud, url }: Recorded,
  config: readonly string[],
  cases: readonly Case[],
): Promise<Golden> {
  const readers = labReaders(url);
  await using counted = await countedEndpoint(url);
  const file = join(controlPlane.directory, 'aws.conf');
  await writeFile(file, officialConfig(account, counted.url, config));
  await makeNodes(client, account);
  const state = () => endStateOf(readers, account.vpcId);
  const program = await group.start({
    name: `official ${cloud} ${config.join(' ')}`,
    command: '/usr/bin/env',
    args: [
      ...Object.entries(LAB_ENV).map(([name, value]) => `${name}=${value}`),
      official,
      '--cloud-provider=aws',
      `--cloud-config=${file}`,
      `--kubeconfig=${controlPlane.kubeconfig.path}`,
      '--leader-elect=false',
      '--bind-address=127.0.0.1',
      `--secure-port=${await freePort()}`,
      '--cluster-cidr=10.244.0.0/16',
      '--allocate-node-cidrs=false',
      '--configure-cloud-routes=true',
    ],
    log,
  });
  const nodes = client.of(resources.nodes);
  await until('nodes are initialised', async () =>
    (await nodes.list()).items.every(({ spec }) => !spec?.taints?.some(({ key }) => key === UNINITIALIZED_TAINT)),
  );
  // Whoever waits for a node to be ready lets no load balancer have it before.
  await until('routes are made', async () => JSON.stringify(await state()).split('10.244.').length > NODES);
  await systemClock.sleep(QUIET_MS);
  const callsOfNodes = counted.takeCounts();
  const before = await state();
  const listed = (await nodes.list()).items;
  const services: GoldenService[] = [];
  for (const { annotations, name, spec = {} } of cases) {
    counted.takeCounts();
    const made = await client.of(resources.services).create({
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { name, namespace: 'default', annotations: { ...annotations } },
      spec: { type: 'LoadBalancer', selector: { app: name }, ports: PORTS, ...spec },
    });
    const key = { name, namespace: 'default' };
    const one = () => client.of(resources.services).get(key);
    await until(`${name} has its address`, async () => (await one()).status?.loadBalancer?.ingress !== undefined);
    await systemClock.sleep(QUIET_MS);
    const [after, calls] = [await state(), counted.takeCounts()];
    await client.of(resources.services).delete(key);
    await until(`${name} has gone`, async () =>
      (await client.of(resources.services).list({ namespace: 'default' })).items.every(
        ({ metadata }) => metadata?.uid !== made.metadata?.uid,
      ),
    );
    await systemClock.sleep(QUIET_MS);
    services.push({
      name,
      uid: made.metadata?.uid ?? '',
      annotations,
      spec: { ports: PORTS, ...spec },
      made: after,
      calls,
      left: await state(),
      callsToRemove: counted.takeCounts(),
    });
    process.stderr.write(`${cloud} ${config.join(' ')} ${name}: recorded\n`);
  }
  program.signal('SIGKILL');
  await program.exited();
  for (const { metadata } of listed) await nodes.delete({ name: metadata?.name ?? '' });
  return {
    cloud,
    config,
    nodes: account.instances.map(({ name, zone }) => {
      const node = listed.find(({ metadata }) => metadata?.name === name);
      if (!node) throw new Error(`the node ${name} has gone`);
      return goldenNode(node, zone);
    }),
    before,
    callsOfNodes,
    services,
  };
}

const MANAGED = ['NLBSecurityGroupMode = Managed'];

async function onFake(config: readonly string[], cases: readonly Case[]): Promise<readonly Golden[]> {
  if (!isAsked('fake')) return [];
  const fake = fakeLabCloud(NODES, systemClock);
  await using server = await fake.aws.listen();
  return [await record({ cloud: 'fake', url: server.endpoint, account: fake.account }, config, cases)];
}

const recorded = [
  ...(await onMoto([], CASES)),
  ...(await onMoto(MANAGED, CASES)),
  ...(await onFake([], [...CASES, ...TLS_CASES, ...CLASSIC_CASES])),
  // With TLS it comes to no end then: it asks EC2 for a rule of the protocol `tls`, which there is not.
  ...(await onFake(MANAGED, CASES)),
];
const all = clouds.includes('moto') ? [...recorded, ...kept] : [...kept, ...recorded];
await mkdir(new URL('.', GOLDEN_FILE), { recursive: true });
await writeFile(GOLDEN_FILE, `${JSON.stringify(all, undefined, 2)}\n`);
