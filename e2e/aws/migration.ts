/** An account and a cluster that go from one manager to another and back, by a Lease: what each asks AWS for, and how both look then. */
import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { resources, systemClock, type Client, type Node, type ServicePort } from '@outrigger/kube';
import { clientOf, hollowNode, ProcessGroup, type ControlPlane, type Program } from '@outrigger/testing';
import type { AccountState } from '../../providers/aws/lab/account-state.ts';
import { countedEndpoint, type CallCounts, type CountedEndpoint } from '../../providers/aws/lab/counted-endpoint.ts';
import { endStateOf, identitiesOf, labReaders, type AwsReaders } from '../../providers/aws/lab/end-state.ts';
import { fakeLabCloud, type FakeLabCloud } from '../../providers/aws/lab/fake-cloud.suite.ts';
import { officialConfig } from '../../providers/aws/lab/official.ts';
import { LAB_ENV, type SeededInstance } from '../../providers/aws/lab/seed-account.ts';
import { ELECTION, MIGRATION, migrationConfig, toFlags } from '../hand-over.ts';
import { isInitialised } from '../initialised-node.ts';
import { auditLeadership } from '../leadership-audit.ts';
import { Manager } from '../manager.ts';
import { nodeByName, setReady } from '../node-by-name.ts';
import { LEASE } from '../replica.ts';
import { waitUntil } from '../wait-until.ts';

export const NODES = 3;
/** A program that has asked for nothing for so long has done what there was to do. */
const QUIET_MS = 5_000;
const PATIENCE_MS = 300_000;
/** Whoever takes over asks for these before there is nothing left to do. */
const LOOKS = ['ec2:DescribeRouteTables', 'elb:DescribeLoadBalancers', 'elbv2:DescribeLoadBalancers'];

/** A manager, as the API server knows it. */
export interface Contender {
  readonly user: string;
  readonly start: () => Promise<void>;
  readonly end: (signal: 'SIGTERM' | 'SIGKILL') => Promise<unknown>;
}

export interface MigrationOptions {
  /** More lines of the cloud config's `[Global]`. */
  readonly global?: readonly string[];
  /** Names of what is asked at the fake's URL. Default: those of cloud-provider-aws. */
  readonly services?: readonly string[];
  /** These controllers go by leader migration, by the names that both know. Default: both seek one Lease, and all go. */
  readonly controllers?: readonly string[];
  /** How a kubelet registers the node of a machine. Default: as with `--cloud-provider=external`. */
  readonly register?: (cloud: FakeLabCloud, instance: SeededInstance) => Promise<Node>;
}

export class Migration {
  readonly client: Client;
  readonly cloud: FakeLabCloud;
  readonly #controlPlane: ControlPlane;
  readonly #counted: CountedEndpoint;
  readonly #sdk: AwsReaders;
  readonly #group: ProcessGroup;
  readonly #common: readonly string[];
  readonly #lease: string;
  readonly #users = new Set<string>();
  /** Nodes whose machines are gone. */
  readonly #left: string[] = [];
  #joined = 0;
  #terms = 0;

  private constructor(
    controlPlane: ControlPlane,
    parts: Pick<Migration, 'client' | 'cloud'> & {
      readonly counted: CountedEndpoint;
      readonly sdk: AwsReaders;
      readonly group: ProcessGroup;
      readonly common: readonly string[];
      readonly lease: string;
    },
  ) {
    this.#controlPlane = controlPlane;
    ({ client: this.client, cloud: this.cloud } = parts);
    ({ counted: this.#counted, group: this.#group, sdk: this.#sdk } = parts);
    ({ common: this.#common, lease: this.#lease } = parts);
  }

  /** With its nodes, which have ranges of pods. No manager runs yet; it ends with the test. */
  static async start(t: TestContext, controlPlane: ControlPlane, options: MigrationOptions): Promise<Migration> {
    const { controllers = [], global, register = externalNode, services } = options;
    const cloud = fakeLabCloud(NODES, systemClock);
    const server = await cloud.aws.listen();
    const counted = await countedEndpoint(server.endpoint);
    const config = join(controlPlane.directory, 'aws.conf');
    await writeFile(config, officialConfig(cloud.account, counted.url, global, services));
    const leaders = join(controlPlane.directory, 'migration.yaml');
    await writeFile(leaders, migrationConfig(...controllers));
    const client = await clientOf(controlPlane.kubeconfig.path);
    const group = new ProcessGroup();
    t.after(async () => {
      for (const one of [group, client, counted, server]) await one[Symbol.asyncDispose]();
    });
    const isByLeader = controllers.length > 0;
    const migration = new Migration(controlPlane, {
      client,
      cloud,
      counted,
      sdk: labReaders(server.endpoint),
      group,
      lease: isByLeader ? MIGRATION : LEASE.name,
      common: [
        ...toFlags(ELECTION),
        ...(isByLeader ? ['--enable-leader-migration', `--leader-migration-config=${leaders}`] : []),
        '--cloud-provider=aws',
        `--cloud-config=${config}`,
        '--bind-address=127.0.0.1',
        '--secure-port=0',
        '--cluster-cidr=10.244.0.0/16',
        '--configure-cloud-routes=true',
      ],
    });
    for (const one of cloud.account.instances) await migration.join(one, register);
    return migration;
  }

  /** Its kubelet registers the node of a machine, which has a range of pods, and is ready. */
  async join(one: SeededInstance, register: NonNullable<MigrationOptions['register']> = externalNode): Promise<void> {
    const node = await register(this.cloud, one);
    const podCIDR = `10.244.${this.#joined++}.0/24`;
    await this.client.of(resources.nodes).create({ ...node, spec: { ...node.spec, podCIDR, podCIDRs: [podCIDR] } });
    await setReady(this.client, one.name, 'True');
  }

  async #flags(user: string): Promise<readonly string[]> {
    this.#users.add(user);
    const kubeconfig = await this.#controlPlane.kubeconfigFor({ user, groups: ['system:masters'] });
    return [...this.#common, `--kubeconfig=${kubeconfig.path}`];
  }

  /** A program of others. */
  async other(user: string, command: string, flags: readonly string[]): Promise<Contender> {
    const env = Object.entries(LAB_ENV).map(([name, value]) => `${name}=${value}`);
    const args = [...env, command, ...(await this.#flags(user)), ...flags];
    let program: Program | undefined;
    return {
      user,
      start: async () => {
        program = await this.#group.start({ name: user, command: '/usr/bin/env', args, log: this.#log(user) });
      },
      end: async (signal) => {
        assert.equal(program?.exit, undefined, `${user} has ended by itself`);
        program?.signal(signal);
        await program?.exited();
      },
    };
  }

  async outrigger(t: TestContext, flags: readonly string[] = []): Promise<Contender> {
    const user = 'outrigger';
    const own = ['--allocate-node-cidrs=false', ...flags];
    const manager = new Manager([...(await this.#flags(user)), ...own], this.#log(user));
    t.after(() => manager[Symbol.asyncDispose]());
    return {
      user,
      start: async () => manager.start(),
      end: async (signal) => assert.equal(await manager.end(signal), signal === 'SIGTERM' ? 0 : null),
    };
  }

  #log(user: string): string {
    return join(this.#controlPlane.directory, `${user}.log`);
  }

  /** The first to lead. */
  async begins(one: Contender): Promise<void> {
    this.#terms++;
    await one.start();
  }

  /** The one that leads ends, while the other one waits for the Lease, which it takes. Gives back how often that one asked AWS for what until it had nothing to do. */
  async handOver(
    t: TestContext,
    [from, to]: readonly [Contender, Contender],
    signal: 'SIGTERM' | 'SIGKILL',
  ): Promise<CallCounts> {
    this.#terms++;
    const { auditLog } = this.#controlPlane;
    const begin = await auditLog.mark();
    await to.start();
    const deeds = (verbs: readonly string[]) => async (): Promise<boolean> => {
      const asked = await auditLog.count(({ objectRef, responseStatus, user, verb }) => {
        const isIt = user.username === to.user && objectRef?.name === this.#lease && verbs.includes(verb);
        return isIt && (responseStatus?.code ?? 500) < 300 ? 'asked' : undefined;
      }, begin);
      return asked['asked'] !== undefined;
    };
    await this.until(`${to.user} seeks the Lease`, deeds(['get', 'list', 'watch']));
    this.#counted.takeCounts();
    await from.end(signal);
    await this.until(`${to.user} takes the Lease`, deeds(['update', 'patch']));
    return this.settled(t, `${from.user}, ${signal} → ${to.user}`, LOOKS);
  }

  /** Waits until something was asked of AWS, `looks` among it, and then nothing that changes it for a while. Gives back how often it was asked for what. */
  async settled(t: TestContext, what: string, looks: readonly string[] = []): Promise<CallCounts> {
    const all: Record<string, number> = {};
    let quietSince = Number.POSITIVE_INFINITY;
    await this.until(`${what} is quiet`, async () => {
      const counts = this.#counted.takeCounts();
      for (const [name, count] of Object.entries(counts)) all[name] = (all[name] ?? 0) + count;
      // Reads come back, of nodes and routes, as long as a program runs.
      const writes = Object.keys(counts).some((name) => !/:(?:Describe|Get)/u.test(name));
      if (writes || (quietSince === Number.POSITIVE_INFINITY && Object.keys(counts).length > 0)) {
        quietSince = systemClock.monotonic();
      }
      return looks.every((name) => all[name]) && systemClock.monotonic() - quietSince > QUIET_MS;
    });
    t.diagnostic(`${what}: ${JSON.stringify(all)}`);
    return all;
  }

  async until(what: string, holds: () => Promise<boolean>): Promise<void> {
    const logs = [...this.#users].map((user) => this.#log(user));
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

  state(): Promise<AccountState> {
    return endStateOf(this.#sdk, this.cloud.account.vpcId);
  }

  /** Of load balancers, listeners and target groups. */
  identities(): Promise<readonly string[]> {
    return identitiesOf(this.#sdk);
  }

  /** Its machine ends, and with it its kubelet: whoever leads deletes it. */
  async leave({ id, name }: SeededInstance): Promise<void> {
    this.#left.push(name);
    await this.cloud.terminate(id);
    await setReady(this.client, name, 'Unknown');
    await this.until(`node ${name} is gone`, async () => (await nodeByName(this.client, name)) === undefined);
  }

  /** Holds the API server's own record of all of it to what must be: nodes and Services are written by who leads alone. */
  async checkLeadership(t: TestContext): Promise<void> {
    const written = ['nodes', 'services'];
    const entries = await this.#controlPlane.auditLog.requests(
      ({ objectRef, user }) =>
        this.#users.has(user.username) &&
        (written.includes(objectRef?.resource ?? '') ||
          (objectRef?.resource === 'leases' && objectRef.name === this.#lease)),
    );
    for (const resource of written) {
      const { deletions, nodeWrites, strays, terms } = auditLeadership(entries, resource);
      t.diagnostic(`${nodeWrites} writes of ${resource} in ${terms} terms`);
      assert.ok(nodeWrites > 0, resource);
      const left = resource === 'nodes' ? this.#left.map((name) => `/api/v1/nodes/${name}`) : [];
      assert.deepEqual(deletions.toSorted(), left.toSorted(), `${resource}: deleted`);
      assert.deepEqual(strays, [], `${resource}: written by one while the other had the Lease`);
      assert.equal(terms, this.#terms);
    }
  }
}

/** As with `--cloud-provider=external`. */
export async function externalNode(_cloud: FakeLabCloud, { name }: SeededInstance): Promise<Node> {
  return hollowNode({ name, images: 0 });
}
