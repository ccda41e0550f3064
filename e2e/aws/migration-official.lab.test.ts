/** From cloud-provider-aws to the program and back, on the fake and a real control plane: nodes, routes and load balancers of both APIs. */
import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import {
  createClient,
  createTransport,
  loadConfig,
  resources,
  systemClock,
  type Client,
  type ServicePort,
} from '@outrigger/kube';
import { controlPlaneOrSkip, freePort, hollowNode, ProcessGroup, type ControlPlane } from '@outrigger/testing';
import type { AccountState } from '../../providers/aws/lab/account-state.ts';
import { countedEndpoint, type CountedEndpoint } from '../../providers/aws/lab/counted-endpoint.ts';
import { endStateOf, labReaders, type AwsReaders } from '../../providers/aws/lab/end-state.ts';
import { fakeLabCloud, type FakeLabCloud } from '../../providers/aws/lab/fake-cloud.suite.ts';
import { buildOfficial, officialConfig } from '../../providers/aws/lab/official.ts';
import { LAB_ENV } from '../../providers/aws/lab/seed-account.ts';
import { isInitialised } from '../initialised-node.ts';
import { Manager } from '../manager.ts';
import { setEnv } from '../set-env.ts';
import { waitUntil } from '../wait-until.ts';

const NODES = 3;
/** A program that has asked for nothing for so long has done what there was to do. */
const QUIET_MS = 5_000;
const PATIENCE_MS = 120_000;
const NLB = { 'service.beta.kubernetes.io/aws-load-balancer-type': 'nlb' };
/** Which cut traffic, or would make a second one. */
const HARMFUL =
  /:(?:Delete|Deregister|Detach|Create(?:LoadBalancer|Listener|TargetGroup|Route$)|ModifyListener|ReplaceRoute|SetSubnets)/u;

class Migration implements AsyncDisposable {
  readonly controlPlane: ControlPlane;
  readonly cloud: FakeLabCloud;
  readonly counted: CountedEndpoint;
  readonly client: Client;
  readonly sdk: AwsReaders;
  readonly #group = new ProcessGroup();
  readonly #config: string;
  #end: (() => Promise<unknown>) | undefined;

  constructor(parts: Pick<Migration, 'client' | 'cloud' | 'controlPlane' | 'counted' | 'sdk'>, config: string) {
    ({ client: this.client, cloud: this.cloud, controlPlane: this.controlPlane } = parts);
    ({ counted: this.counted, sdk: this.sdk } = parts);
    this.#config = config;
  }

  get #flags(): readonly string[] {
    return [
      '--cloud-provider=aws',
      `--cloud-config=${this.#config}`,
      `--kubeconfig=${this.controlPlane.kubeconfig.path}`,
      '--leader-elect=false',
      '--bind-address=127.0.0.1',
      '--cluster-cidr=10.244.0.0/16',
      '--allocate-node-cidrs=false',
      '--configure-cloud-routes=true',
    ];
  }

  /** Ends the one that works. */
  async official(program: string): Promise<void> {
    await this.#end?.();
    const log = join(this.controlPlane.directory, 'official.log');
    const env = Object.entries(LAB_ENV).map(([name, value]) => `${name}=${value}`);
    const args = [...env, program, ...this.#flags, `--secure-port=${await freePort()}`];
    const running = await this.#group.start({ name: 'official', command: '/usr/bin/env', args, log });
    this.#end = async () => {
      running.signal('SIGKILL');
      await running.exited();
    };
  }

  /** Ends the one that works. */
  async outrigger(): Promise<void> {
    await this.#end?.();
    const log = join(this.controlPlane.directory, 'outrigger.log');
    const manager = new Manager([...this.#flags, `--secure-port=${await freePort()}`], log);
    manager.start();
    this.#end = () => manager.end('SIGTERM');
  }

  /** Waits until it has asked for something, and then for nothing for a while. Gives back how often it has asked for what. */
  async settled(t: TestContext, what: string): Promise<Readonly<Record<string, number>>> {
    const all: Record<string, number> = {};
    let quietSince = Number.POSITIVE_INFINITY;
    await this.until(`${what} is quiet`, async () => {
      const counts = this.counted.takeCounts();
      for (const [name, count] of Object.entries(counts)) all[name] = (all[name] ?? 0) + count;
      // Reads come back, of nodes and routes, as long as a program runs.
      const writes = Object.keys(counts).some((name) => !/:(?:Describe|Get)/u.test(name));
      if (writes || (quietSince === Number.POSITIVE_INFINITY && Object.keys(counts).length > 0)) {
        quietSince = systemClock.monotonic();
      }
      return systemClock.monotonic() - quietSince > QUIET_MS;
    });
    t.diagnostic(`${what}: ${JSON.stringify(all)}`);
    return all;
  }

  async until(what: string, holds: () => Promise<boolean>): Promise<void> {
    const logs = ['official.log', 'outrigger.log'].map((name) => join(this.controlPlane.directory, name));
    await waitUntil(what, holds, { patienceMs: PATIENCE_MS, pollMs: 250, logs });
  }

  async serve(name: string, annotations: Readonly<Record<string, string>>, nodePort: number): Promise<void> {
    const ports: ServicePort[] = [{ name: 'http', port: 80, targetPort: 8080, nodePort, protocol: 'TCP' }];
    await this.client.of(resources.services).create({
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { name, namespace: 'default', annotations: { ...annotations } },
      spec: { type: 'LoadBalancer', selector: { app: name }, ports },
    });
    await this.until(`${name} has its address`, async () => (await this.addresses()).get(name) !== undefined);
  }

  async remove(...names: readonly string[]): Promise<void> {
    for (const name of names) await this.client.of(resources.services).delete({ name, namespace: 'default' });
    await this.until(`${names.join()} are gone`, async () => {
      const there = await this.addresses();
      return names.every((name) => !there.has(name));
    });
  }

  /** By Service. */
  async addresses(): Promise<ReadonlyMap<string, string | undefined>> {
    const { items } = await this.client.of(resources.services).list({ namespace: 'default' });
    const ours = items.filter(({ spec }) => spec?.type === 'LoadBalancer');
    return new Map(ours.map((one) => [one.metadata?.name ?? '', one.status?.loadBalancer?.ingress?.[0]?.hostname]));
  }

  /** Name and resource version: who has written a node is seen. */
  async nodes(): Promise<readonly (string | undefined)[]> {
    const { items } = await this.client.of(resources.nodes).list();
    assert.ok(items.every(isInitialised));
    return items.map(({ metadata }) => `${metadata?.name} ${metadata?.resourceVersion}`);
  }

  async state(): Promise<AccountState> {
    return endStateOf(this.sdk, this.cloud.account.vpcId);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#end?.();
    await this.#group[Symbol.asyncDispose]();
  }
}

/** What clients and pods go by; tags and rules of groups are others' business. */
function trafficIn({ classicLoadBalancers, networkLoadBalancers, routes, targetGroups }: AccountState): object {
  return {
    routes,
    network: networkLoadBalancers.map(({ listeners, name, scheme, zones }) => ({
      name,
      scheme,
      zones,
      ports: listeners.map(({ port, protocol, targetGroup }) => [port, protocol, targetGroup]),
    })),
    targets: targetGroups.map(({ name, port, targets }) => ({ name, port, targets })),
    classic: classicLoadBalancers.map(({ healthCheck, instances, listeners, name }) => ({
      name,
      listeners,
      instances,
      healthCheck,
    })),
  };
}

const harmful = (calls: object): readonly string[] => Object.keys(calls).filter((name) => HARMFUL.test(name));

test('nodes, routes and load balancers go to the program and back', { timeout: 600_000 }, async (t) => {
  const controlPlane = await controlPlaneOrSkip(t);
  if (!controlPlane) return;
  const program = await buildOfficial();
  setEnv(t, LAB_ENV);
  const cloud = fakeLabCloud(NODES, systemClock);
  await using server = await cloud.aws.listen();
  await using counted = await countedEndpoint(server.endpoint);
  const config = join(controlPlane.directory, 'aws.conf');
  await writeFile(config, officialConfig(cloud.account, counted.url, ['NLBSecurityGroupMode = Managed']));
  await using transport = createTransport(await loadConfig({ kubeconfig: controlPlane.kubeconfig.path }));
  const client = createClient(transport);
  await using migration = new Migration(
    { client, cloud, controlPlane, counted, sdk: labReaders(server.endpoint) },
    config,
  );
  for (const [i, { name }] of cloud.account.instances.entries()) {
    const node = hollowNode({ name, images: 0 });
    const podCIDR = `10.244.${i}.0/24`;
    await client.of(resources.nodes).create({ ...node, spec: { ...node.spec, podCIDR, podCIDRs: [podCIDR] } });
  }

  await migration.official(program);
  await migration.until(
    'nodes have their routes',
    async () => JSON.stringify(await migration.state()).split('10.244.').length > NODES,
  );
  await migration.settled(t, 'cloud-provider-aws, nodes');
  const empty = await migration.state();
  await migration.serve('network', NLB, 30_080);
  await migration.serve('classic', {}, 30_081);
  await migration.settled(t, 'cloud-provider-aws, Services');

  const before = [trafficIn(await migration.state()), await migration.addresses(), await migration.nodes()];
  await migration.outrigger();
  const taken = await migration.settled(t, 'to the program');
  assert.deepEqual(harmful(taken), []);
  assert.deepEqual([trafficIn(await migration.state()), await migration.addresses(), await migration.nodes()], before);
  await migration.serve('network-2', NLB, 30_082);
  await migration.serve('classic-2', {}, 30_083);
  await migration.settled(t, 'the program, Services');

  const between = [trafficIn(await migration.state()), await migration.addresses(), await migration.nodes()];
  await migration.official(program);
  const back = await migration.settled(t, 'back to cloud-provider-aws');
  assert.deepEqual(harmful(back), []);
  assert.deepEqual([trafficIn(await migration.state()), await migration.addresses(), await migration.nodes()], between);
  await migration.remove('network', 'network-2', 'classic', 'classic-2');
  await migration.settled(t, 'cloud-provider-aws, removal');
  const left = await migration.state();
  // Nobody has it any more, and cloud-provider-aws knows of no such group.
  const isShared = ({ name }: { readonly name: string }): boolean => name.startsWith('k8s-outrigger-');
  assert.equal(left.securityGroups.filter(isShared).length, 1);
  const withoutIds = ({ securityGroups, ...rest }: AccountState): object => ({
    ...rest,
    groups: securityGroups.filter((one) => !isShared(one)).map((one) => ({ ...one, id: '' })),
  });
  assert.deepEqual(withoutIds(left), withoutIds(empty));
});
