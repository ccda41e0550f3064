/** An account on the fake with what cloud-provider-aws left there of a Service, and the provider that takes it over. */
import assert from 'node:assert/strict';
import {
  isCloudError,
  type CallContext,
  type DesiredLoadBalancer,
  type LoadBalancerPart,
  type LoadBalancers,
  type LoadBalancerService,
} from '@outrigger/cloud-provider';
import { openProvider, type OpenedProvider } from '@outrigger/cloud-runtime';
import { silentLogger, type Service } from '@outrigger/kube';
import { createAwsProvider } from '@outrigger/provider-aws';
import { FakeClock } from '@outrigger/testing';
import { loadBalancerServiceOf } from '../../packages/controllers/src/service/load-balancer-service.ts';
import type { AccountState } from '../../providers/aws/lab/account-state.ts';
import { annotations } from '../../providers/aws/src/load-balancer/annotations/annotation-rows.ts';
import { endStateOf, type AwsReaders } from '../../providers/aws/lab/end-state.ts';
import { fakeLabCloud, fakeReaders, type FakeLabCloud } from '../../providers/aws/lab/fake-cloud.suite.ts';
import type { Golden, GoldenService } from '../../providers/aws/lab/golden.ts';
import { restoreGolden } from '../../providers/aws/lab/restore-golden.suite.ts';
import { LAB_CLUSTER, LAB_ENV } from '../../providers/aws/lab/seed-account.ts';

/** Default of `--cluster-name`, which cloud-provider-aws ran with. */
const CLUSTER = { id: 'uid-of-kube-system', name: 'kubernetes' };
const ROUNDS = 60;

interface Process {
  readonly balancers: LoadBalancers;
  readonly killed: AbortController;
  readonly opened: OpenedProvider;
}

export class HandedOverAccount implements AsyncDisposable {
  readonly cloud: FakeLabCloud;
  readonly sdk: AwsReaders;
  readonly service: LoadBalancerService;
  readonly #clock: FakeClock;
  readonly #config: string;
  #process!: Process;
  /** Which write from now on loses its answer, and whether the process dies with that. */
  #loss: { after: number; readonly kills: boolean } | undefined;

  private constructor(golden: GoldenService, config: readonly string[]) {
    this.#clock = new FakeClock();
    this.cloud = fakeLabCloud(3, this.#clock);
    const own = [`KubernetesClusterID = ${LAB_CLUSTER}`, `VPC = ${this.cloud.account.vpcId}`];
    this.#config = `[Global]\n${[...own, ...config].join('\n')}\n`;
    this.sdk = fakeReaders(this.cloud.aws);
    this.service = loadBalancerServiceOf(serviceOf(golden), annotations.declared);
  }

  /** `config`: more of `[Global]`. Nothing is there yet: see {@link restore}. */
  static async open(golden: GoldenService, config: readonly string[] = []): Promise<HandedOverAccount> {
    const account = new HandedOverAccount(golden, config);
    await account.#start();
    return account;
  }

  /** A process, which knows nothing of what the one before has done. */
  async #start(): Promise<void> {
    const { cloud } = this;
    const killed = new AbortController();
    const fetch: typeof cloud.fetch = async (url, init) => {
      killed.signal.throwIfAborted();
      const isWrite = !/Action=(?:Describe|Get)/u.test(String(init?.body));
      if (!isWrite || !this.#loss || this.#loss.after-- > 0) return cloud.fetch(url, init);
      const { kills } = this.#loss;
      this.#loss = undefined;
      await cloud.fetch(url, init);
      if (kills) killed.abort();
      // Else the host asks again, in a while.
      else setImmediate(() => void this.#clock.advance(2_000));
      throw new TypeError('the connection is closed');
    };
    const opened = await openProvider(createAwsProvider({ env: LAB_ENV, fetch }), {
      cluster: CLUSTER,
      config: { fileName: 'aws.conf', text: this.#config },
      clock: this.#clock,
      logger: silentLogger,
      random: () => 0,
    });
    const { loadBalancers } = opened.capabilities;
    assert.ok(loadBalancers);
    this.#process = { balancers: loadBalancers, killed, opened };
  }

  /** The n-th write from now on takes effect, and its answer is lost; with `kills` the process ends there. */
  loseAnswer(after: number, kills: boolean): void {
    this.#loss = { after, kills };
  }

  get isLossPending(): boolean {
    return this.#loss !== undefined;
  }

  /** As `bring`, with another process after one that is killed; one that has lost an answer goes on. `whenLost`: before that. */
  async persist(wanted: boolean, whenLost: () => Promise<void>): Promise<void> {
    try {
      await this.bring(wanted);
    } catch (error) {
      const { killed, opened } = this.#process;
      if (!killed.signal.aborted && (this.isLossPending || !isCloudError(error, 'unavailable'))) throw error;
      await whenLost();
      if (killed.signal.aborted) {
        await opened[Symbol.asyncDispose]();
        await this.#start();
      }
      await this.#clock.advance(5_000);
      await this.bring(wanted);
    }
  }

  async restore(golden: GoldenService): Promise<void> {
    await restoreGolden(this.sdk, this.cloud.account, golden);
    this.takeWrites();
  }

  /** Of the load balancers, as the official SDK reads them. */
  async state(): Promise<AccountState> {
    return endStateOf(this.sdk, this.cloud.account.vpcId);
  }

  /** `elbv2:AddTags`, in order, since it was asked last. */
  takeWrites(): readonly string[] {
    const { aws } = this.cloud;
    const writes = aws.calls.all().filter(({ operation }) => !/:(?:Describe|Get)/u.test(operation));
    aws.calls.clear();
    return writes.map(({ operation }) => operation);
  }

  /** As the host does it, until there is nothing more to do; gives back what was done, as `claim load-balancer`. */
  async bring(wanted: boolean, service: LoadBalancerService = this.service): Promise<readonly string[]> {
    const desired = this.#desired(service, wanted);
    const done: string[] = [];
    for (let round = 0; round < ROUNDS; round++) {
      const { actions, complete, refused } = this.#process.balancers.plan(desired, await this.#parts(service));
      if (refused) throw refused;
      if (actions.length === 0 && complete) return done;
      await this.#clock.advance(2_000);
      for (const action of actions) {
        done.push(`${action.kind} ${action.part}`);
        const result = await this.#process.balancers.apply(action, desired, this.#call());
        this.#process.killed.signal.throwIfAborted();
        if (result.kind === 'pending') await this.#clock.advance(result.pollAfterMs);
      }
    }
    throw new Error(`it comes to no end: ${done.slice(-4).join(', ')}`);
  }

  /** When no look is behind any more, and what was made lately counts as there. */
  async later(): Promise<void> {
    await this.#clock.advance(120_000);
  }

  async #parts(service: LoadBalancerService): Promise<readonly LoadBalancerPart[]> {
    const [look] = await this.#process.balancers.observe([service], this.#call());
    if (look?.kind !== 'parts') throw look?.error ?? new Error('no answer');
    return look.parts;
  }

  #desired(service: LoadBalancerService, wanted: boolean): DesiredLoadBalancer {
    const backEnds = this.cloud.account.instances.map(({ address, id, name, zone }) => ({
      node: { name, uid: `uid-${id}`, providerID: `aws:///${zone}/${id}`, labels: {}, annotations: {} },
      addresses: [{ type: 'InternalIP' as const, address }],
    }));
    return { service, wanted, owner: { clusterId: CLUSTER.id, uid: service.uid }, backEnds };
  }

  #call(): CallContext {
    const { killed, opened } = this.#process;
    return opened.callContext({ signal: killed.signal, priority: 'normal' });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const client of Object.values(this.sdk)) client.destroy();
    await this.#process.opened[Symbol.asyncDispose]();
  }
}

/** As it was when it was recorded. */
export function serviceOf({ annotations, name, spec, uid }: GoldenService): Service {
  return {
    metadata: { name, namespace: 'default', uid, annotations: { ...annotations } },
    spec: { type: 'LoadBalancer', ipFamilies: ['IPv4'], ipFamilyPolicy: 'SingleStack', ...spec },
  };
}

/** `fake, NLBSecurityGroupMode = Managed: network`. */
export function titleOf({ cloud, config }: Golden, { name }: GoldenService): string {
  return `${[cloud, ...config].join(', ')}: ${name}`;
}
