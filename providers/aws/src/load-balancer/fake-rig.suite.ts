/** Load balancers on the fake AWS, by the client that the provider has. */
import assert from 'node:assert/strict';
import {
  ClusterPlace,
  type BackEnd,
  type CallContext,
  type DesiredLoadBalancer,
  type LoadBalancerPart,
  type LoadBalancers,
  type LoadBalancerService,
  type ProviderHost,
} from '@outrigger/cloud-provider';
import type { Fetch } from '@outrigger/provider-kit';
import { silentLogger } from '@outrigger/kube';
import { FakeClock } from '@outrigger/testing';
import { createFakeAws, type FakeAws, type FakeAwsOptions } from '../../fake/fake-aws.ts';
import { createAwsClient, type AwsClient } from '../client/aws-client.ts';
import { OwnCluster } from '../cluster/own-cluster.ts';
import { readAwsConfig } from '../config/read-aws-config.ts';
import { createAwsLoadBalancers } from './create-load-balancers.ts';

const cluster = { id: 'cluster-uid', name: 'test' };

export class FakeRig {
  readonly clock: FakeClock = new FakeClock();
  readonly aws: FakeAws;
  readonly vpcId: string;
  readonly instances: readonly string[];
  balancers: LoadBalancers;
  /** The provider's own. */
  client!: AwsClient;

  constructor(options: Partial<FakeAwsOptions> = {}, nodes: number = 3) {
    this.aws = createFakeAws({ clock: this.clock, ...options });
    const seed = this.aws.seedCluster({ nodes, hasIpv6: true });
    this.vpcId = seed.vpcId;
    this.instances = seed.instances.map(({ id }) => id);
    this.balancers = this.started();
  }

  /** A lost answer of the n-th write from now on, with or without effect. */
  fault: { after: number; readonly takesEffect: boolean } | undefined;
  writes = 0;
  /** Before a write is sent, with its form. */
  before: (body: string) => Promise<void> = () => Promise.resolve();

  readonly #fetch: Fetch = async (url, init) => {
    const isWrite = !/Action=Describe/u.test(String(init?.body));
    if (isWrite) this.writes++;
    if (isWrite) await this.before(String(init?.body));
    if (!isWrite || !this.fault || this.fault.after-- > 0) return this.aws.fetch(url, init);
    const { takesEffect } = this.fault;
    this.fault = undefined;
    if (takesEffect) await this.aws.fetch(url, init);
    throw new TypeError('the connection is closed');
  };

  get call(): CallContext {
    const { signal } = new AbortController();
    return { signal, priority: 'normal', logger: silentLogger, call: (_operation, send) => send(signal) };
  }

  /** Another process; without a config, it does not know which cluster this is. */
  started(text: string = `[Global]\nKubernetesClusterID = kubernetes\nVPC = ${this.vpcId}\n`): LoadBalancers {
    const { clock } = this;
    const host: ProviderHost = {
      clock,
      cluster,
      config: undefined,
      logger: silentLogger,
      callContext: () => this.call,
      capabilitiesChanged: () => {},
      redact: () => {},
    };
    const client = (this.client = createAwsClient({
      host,
      region: 'eu-central-1',
      credentials: { accessKeyId: 'AKIAEXAMPLE', secretAccessKey: 'secret' },
      fetch: this.#fetch,
    }));
    const config = readAwsConfig({ text, fileName: 'aws.conf' }, () => {});
    const place = new ClusterPlace({ what: 'account', setBy: 'the credentials' });
    this.balancers = createAwsLoadBalancers({
      name: 'aws',
      host,
      client,
      config: () => config,
      cluster: new OwnCluster({ client, config: () => config }),
      place,
    });
    return this.balancers;
  }

  async parts(service: LoadBalancerService): Promise<readonly LoadBalancerPart[]> {
    const [seen] = await this.balancers.observe([service], this.call);
    if (seen?.kind === 'failed') throw seen.error;
    assert.ok(seen);
    return seen.parts;
  }

  /** As the host does it, until a plan has nothing more to do. */
  async bring(desired: DesiredLoadBalancer): Promise<readonly string[]> {
    const lines: string[] = [];
    for (let round = 0; round < 100; round++) {
      const { actions, complete, refused } = this.balancers.plan(desired, await this.parts(desired.service));
      if (refused) throw refused;
      if (actions.length === 0 && complete) return lines;
      // Lists are behind, and what is under way takes its time; the host looks again, and again later.
      await this.clock.advance(2_000);
      for (const action of actions) {
        lines.push(`${action.kind} ${action.part}`);
        const result = await this.balancers.apply(action, desired, this.call);
        if (result.kind === 'pending') await this.clock.advance(result.pollAfterMs);
      }
    }
    throw new Error(`it comes to no end: ${lines.slice(-4).join(', ')}`);
  }

  /** With a new process after each failure. */
  async persist(desired: DesiredLoadBalancer): Promise<void> {
    for (let attempt = 0; attempt < 8; attempt++) {
      try {
        await this.bring(desired);
        return;
      } catch {
        await this.clock.advance(5_000);
        this.started();
      }
    }
    await this.bring(desired);
  }

  desired(
    service: LoadBalancerService,
    nodes: readonly string[] = this.instances,
    wanted: boolean = true,
  ): DesiredLoadBalancer {
    const backEnds = nodes.map((id): BackEnd => ({
      node: { name: id, uid: id, providerID: `aws:///eu-central-1a/${id}`, labels: {}, annotations: {} },
      addresses: [],
    }));
    return { service, wanted, owner: { clusterId: cluster.id, uid: service.uid }, backEnds };
  }
}
