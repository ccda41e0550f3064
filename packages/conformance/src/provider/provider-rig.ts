/**
 * A provider in use, opened by the host's own machinery as the manager would, between a fixture's cloud and a test. Over 400 lines: all that a
 * test does goes by one rig, which moves the one clock and takes away whatever was made.
 */
import { strict as assert } from 'node:assert';
import { randomUUID } from 'node:crypto';
import {
  isCloudError,
  type BackEnd,
  type CallContext,
  type Capabilities,
  type CloudProvider,
  type ConfigText,
  type Instance,
  type InstanceAnswer,
  type NodeRef,
  type ProviderHost,
} from '@outrigger/cloud-provider';
import {
  batchSizeOf,
  callInTime,
  openProvider,
  type CallBudgetOptions,
  type OpenedProvider,
} from '@outrigger/cloud-runtime';
import { raceAbort, silentLogger, systemClock, type Clock } from '@outrigger/kube';
import { NotVerifiable } from './not-verifiable.ts';
import { httpFaults, type HttpFaults } from './http-faults.ts';
import type { CloudFailure, ProviderFixture } from './provider-fixture.ts';
import { RequestFaults, type Member } from './request-faults.ts';

/** What is judged: how the provider is made, and a cloud to try it in. */
export interface ProviderSubject<F extends ProviderFixture = ProviderFixture> {
  /** A new one at each call, as each start of the program makes one. */
  readonly provider: (fixture: F) => CloudProvider | Promise<CloudProvider>;
  /** Called for each test. */
  readonly fixture: () => Promise<F>;
  /** `--cloud-config`, where the fixture has none. */
  readonly config?: ConfigText | undefined;
}

export interface OpenRigOptions {
  /** Default: each request is sent once. */
  readonly budget?: CallBudgetOptions;
  /** Default: a new one. */
  readonly clusterId?: string;
  /** Called with the wrapped provider before it is opened. */
  readonly faults?: RequestFaults;
  /** Ends whatever the test does by this rig, with its reason; what was made is taken away all the same. Default: never. */
  readonly signal?: AbortSignal;
  /** Hears of each thing that could not be taken away: one line. */
  readonly onLeft?: ((line: string) => void) | undefined;
}

export interface CallOptions {
  /** Default: 60,000. */
  readonly timeoutMs?: number;
  readonly signal?: AbortSignal;
  /** It changes something in the cloud. Default: false. */
  readonly writes?: boolean;
}

/** So many turns of the event loop without a request under way, and the clock that stands still is moved on. */
const IDLE_TURNS = 12;
const STEP_MS = 250;
/** Who waits for neither a request nor the clock may be reading a file or closing a connection: that takes real time, and each step so much of it. */
const PAUSE_MS = 3;
/** Where requests that are under way wait for the clock themselves. */
const STUCK_MS = 500;
/** So often what was made is tried to be taken away, while the cloud refuses it. */
const REMOVALS = 5;
const REMOVAL_PAUSE_MS = 30_000;
const A_DAY_MS = 86_400_000;
const never = new AbortController().signal;

export class ProviderRig implements AsyncDisposable {
  readonly fixture: ProviderFixture;
  readonly clusterId: string;
  readonly faults: RequestFaults;
  readonly clock: Clock;
  readonly #subject: ProviderSubject;
  readonly #budget: CallBudgetOptions;
  readonly #ownsFixture: boolean;
  readonly #machines: NodeRef[] = [];
  readonly #sleeps = { pending: 0 };
  readonly #afterwards: (readonly [what: string, work: () => Promise<unknown>])[] = [];
  readonly #onLeft: ((line: string) => void) | undefined;
  /** While the test runs, the signal that ends it; what takes away is not ended by it. */
  #cut: AbortSignal;
  #http: HttpFaults | undefined;
  #opened: OpenedProvider | undefined;

  constructor(subject: ProviderSubject, fixture: ProviderFixture, ownsFixture: boolean, options: OpenRigOptions) {
    this.fixture = fixture;
    this.clusterId = options.clusterId ?? randomUUID();
    this.faults = options.faults ?? new RequestFaults();
    this.clock = fixture.clock ?? systemClock;
    this.#subject = subject;
    this.#ownsFixture = ownsFixture;
    this.#budget = options.budget ?? { maxAttempts: 1 };
    this.#cut = options.signal ?? never;
    this.#onLeft = options.onLeft;
  }

  static async open(subject: ProviderSubject, options: OpenRigOptions = {}): Promise<ProviderRig> {
    const fixture = await subject.fixture();
    const rig = new ProviderRig(subject, fixture, true, options);
    try {
      await rig.start();
    } catch (error) {
      await fixture[Symbol.asyncDispose]();
      throw error;
    }
    return rig;
  }

  /** Another process beside this one, over the same cloud: of another cluster, unless `clusterId` is given. */
  async beside(options: OpenRigOptions = {}): Promise<ProviderRig> {
    const inherited = { signal: this.#cut, onLeft: this.#onLeft };
    const rig = new ProviderRig(this.#subject, this.fixture, false, { ...inherited, ...options });
    rig.#http = this.#http;
    this.defer('another process', () => rig[Symbol.asyncDispose]());
    await rig.start();
    return rig;
  }

  /** The cloud config that it is opened with. */
  get config(): ConfigText | undefined {
    return this.#http?.config ?? this.fixture.config ?? this.#subject.config;
  }

  /** One more, as the factory makes it. */
  async unopened(): Promise<{ readonly provider: CloudProvider }> {
    return { provider: this.faults.around(await this.#subject.provider(this.fixture)) };
  }

  async start(): Promise<void> {
    this.#cut.throwIfAborted();
    const { provider } = await this.unopened();
    const open = (host: ProviderHost): ReturnType<CloudProvider['open']> =>
      provider.open({ ...host, clock: this.#countingSleeps(host.clock) });
    this.#opened = await this.drive(
      openProvider(
        { ...provider, open },
        {
          cluster: { id: this.clusterId, name: 'conformance' },
          config: this.config,
          clock: this.clock,
          logger: silentLogger,
          random: () => 0,
          budget: this.#budget,
        },
      ),
      never,
    );
  }

  /** As a new process does, of which nothing is known but what is in the cloud. Ends a crash. */
  async restart(): Promise<void> {
    await this.close();
    this.faults.set();
    await this.start();
  }

  async close(): Promise<void> {
    const opened = this.#opened;
    this.#opened = undefined;
    if (opened) await this.drive(Promise.resolve(opened[Symbol.asyncDispose]()), never);
  }

  get opened(): OpenedProvider {
    if (!this.#opened) throw new Error('the provider is not open');
    return this.#opened;
  }

  get capabilities(): Capabilities {
    return this.opened.capabilities;
  }

  /** Waits of the provider, on the clock that it was given, that have not ended. */
  get pendingSleeps(): number {
    return this.#sleeps.pending;
  }

  /** The capability. Throws where it is missing. */
  use<K extends keyof Capabilities>(name: K): NonNullable<Capabilities[K]> {
    const capability = this.capabilities[name];
    if (capability === undefined) throw new NotVerifiable(`the provider has no ${name} any more`);
    return capability;
  }

  /** Calls a member of the contract as the host does: with a deadline, and dropped when it does not end. */
  call<T>(member: Member, work: (call: CallContext) => Promise<T>, options: CallOptions = {}): Promise<T> {
    const { timeoutMs = 60_000, writes = false } = options;
    const signal = options.signal ? AbortSignal.any([options.signal, this.#cut]) : this.#cut;
    return this.drive(
      callInTime(
        { clock: this.clock, timeoutMs, what: member, signal },
        (either) => {
          const context = this.opened.callContext({ signal: either, priority: 'normal', reads: !writes });
          return this.faults.context(context, member);
        },
        work,
      ),
    );
  }

  /** Waits for it, and moves a clock that stands still whenever nothing else goes on. `cut`: when it is waited for no longer. */
  async drive<T>(work: Promise<T>, cut: AbortSignal = this.#cut): Promise<T> {
    const { clock } = this.fixture;
    if (!clock) return kept(raceAbort(work, cut));
    const state = { isSettled: false };
    const end = (): void => {
      state.isSettled = true;
    };
    work.then(end, end);
    let idleTurns = 0;
    let movedAt = systemClock.monotonic();
    while (!state.isSettled) {
      cut.throwIfAborted();
      await new Promise<void>((resolve) => void setImmediate(resolve));
      idleTurns = this.faults.busy > 0 ? 0 : idleTurns + 1;
      if (state.isSettled) break;
      const restedMs = systemClock.monotonic() - movedAt;
      const isWaiting = this.faults.hanging > 0 || this.pendingSleeps > 0;
      const isIdle = idleTurns >= IDLE_TURNS && (isWaiting || restedMs >= PAUSE_MS);
      if (!isIdle && restedMs < STUCK_MS) continue;
      await clock.advance(STEP_MS);
      idleTurns = 0;
      movedAt = systemClock.monotonic();
    }
    return work;
  }

  async wait(ms: number): Promise<void> {
    this.#cut.throwIfAborted();
    if (ms > 0) await (this.fixture.clock?.advance(ms) ?? this.clock.sleep(ms, this.#cut));
  }

  /** Lets what is ready run, without moving time. */
  async settle(): Promise<void> {
    if (this.fixture.clock)
      for (let i = 0; i < IDLE_TURNS; i++) await new Promise((resolve) => void setImmediate(resolve));
    else await this.clock.sleep(50);
  }

  /** Resolves once it holds; bounded by real time. */
  async until(what: string, holds: () => boolean): Promise<void> {
    const since = systemClock.monotonic();
    while (!holds()) {
      this.#cut.throwIfAborted();
      if (systemClock.monotonic() - since > 10_000) throw new Error(`it does not come to this: ${what}`);
      await this.settle();
      // Only real time ends what is waited for here, and others need the processor for it.
      await systemClock.sleep(PAUSE_MS);
    }
  }

  /** Retries until it holds: a provider may leave a cloud alone for a while that has refused it. */
  async recovers(what: string, holds: () => Promise<boolean>): Promise<void> {
    for (let attempt = 0; attempt < 60; attempt++) {
      if (await holds().catch(() => false)) return;
      await this.wait(2_000);
    }
    throw new Error(`the cloud is well again, and for two minutes it does not come to this: ${what}`);
  }

  /** How the cloud fails from now on, by the fixture or by the suite's own proxy. */
  async fail(how: CloudFailure | undefined): Promise<void> {
    if (this.fixture.fail) {
      await this.fixture.fail(how);
      return;
    }
    if (how?.kind === 'empty')
      throw new NotVerifiable('a proxy cannot empty the lists of a cloud; the fixture has no fail');
    this.#http ??= await this.#proxied();
    this.#http.fail(how);
  }

  /** Puts the suite's proxy between the provider and its cloud, which is opened anew. */
  async proxy(): Promise<HttpFaults> {
    return (this.#http ??= await this.#proxied());
  }

  async createMachine(name: string): Promise<NodeRef> {
    this.#cut.throwIfAborted();
    const node = await this.fixture.createMachine(`${name}-${randomUUID().slice(0, 8)}`);
    this.#machines.push(node);
    this.#cut.throwIfAborted();
    return node;
  }

  /** A machine, and its node with its provider ID. */
  async createNode(name: string): Promise<NodeRef> {
    return (await this.createBackEnd(name)).node;
  }

  /** With its addresses. Of a provider without instances, as the fixture gives it. */
  async createBackEnd(name: string): Promise<BackEnd> {
    const node = await this.createMachine(name);
    if (!this.capabilities.instances) return { node, addresses: [] };
    const { addresses = [], providerID } = await this.instanceOf(node);
    return { node: { ...node, providerID }, addresses };
  }

  async deleteMachine(node: NodeRef): Promise<void> {
    await this.fixture.deleteMachine(node);
    const at = this.#machines.findIndex(({ name }) => name === node.name);
    if (at >= 0) this.#machines.splice(at, 1);
  }

  /** As the host: never more at once than the capability takes. The answers are in the order of the questions. */
  async inBatches<Q, A>(
    capability: Parameters<typeof batchSizeOf>[0],
    questions: readonly Q[],
    ask: (batch: readonly Q[]) => Promise<readonly A[]>,
  ): Promise<readonly A[]> {
    const most = batchSizeOf(capability);
    if (questions.length <= most) return ask(questions);
    const answers: A[] = [];
    for (let at = 0; at < questions.length; at += most) {
      const batch = questions.slice(at, at + most);
      const some = await ask(batch);
      assert.equal(some.length, batch.length, 'an answer for each');
      answers.push(...some);
    }
    return answers;
  }

  async lookUp(...nodes: readonly NodeRef[]): Promise<readonly InstanceAnswer[]> {
    const instances = this.use('instances');
    return this.inBatches(instances, nodes, (batch) =>
      this.call('lookUp', (call) => instances.lookUp(batch, 'metadata', call)),
    );
  }

  async read(node: NodeRef): Promise<InstanceAnswer> {
    const instances = this.use('instances');
    return this.call('read', (call) => instances.read(node, 'metadata', call));
  }

  /** Its machine, which is there; a cloud may need a while to show it. */
  async instanceOf(node: NodeRef): Promise<Instance> {
    for (let attempt = 0; ; attempt++) {
      const [answer] = await this.lookUp(node);
      if (answer?.result.kind === 'found') return answer.result.instance;
      if (attempt === 30) throw new Error(`the machine of ${node.name} is there, and is not found: ${wordsOf(answer)}`);
      await this.wait(2_000);
    }
  }

  /** Takes `what` away when the test is over, whatever came of it: the last first. */
  defer(what: string, work: () => Promise<unknown>): void {
    this.#afterwards.push([what, work]);
  }

  /** Takes away what was made, whatever came of the test, and tells what could not be. Never rejects. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#cut = never;
    this.faults.set();
    const steps: readonly (readonly [what: string, work: () => Promise<unknown>])[] = [
      ['the failure of the cloud', () => this.#endFailure()],
      // A test may end between two processes.
      ['the provider', async () => this.#afterwards.length > 0 && this.#opened === undefined && this.start()],
      ...this.#afterwards.toReversed(),
      ...this.#machines.map((node) => [`machine ${node.name}`, () => this.fixture.deleteMachine(node)] as const),
      ['the provider', () => this.close()],
      ['the proxy', async () => this.#ownsFixture && this.#http?.[Symbol.asyncDispose]()],
      ['the fixture', async () => this.#ownsFixture && this.fixture[Symbol.asyncDispose]()],
    ];
    for (const [what, work] of steps) {
      // What a broken provider has made may not be to be removed: the rest is, all the same.
      await this.#insist(work).catch((error: unknown) => this.#onLeft?.(`${what}: ${firstLine(error)}`));
    }
  }

  /** Tries again where the cloud refuses: a provider may leave one alone for a while that was unwell a moment ago. */
  async #insist(work: () => Promise<unknown>): Promise<void> {
    for (let attempt = 1; ; attempt++) {
      try {
        await work();
        return;
      } catch (error) {
        if (attempt === REMOVALS || !isCloudError(error)) throw error;
      }
      await this.wait(REMOVAL_PAUSE_MS);
    }
  }

  async #endFailure(): Promise<void> {
    if (!this.#ownsFixture) return;
    await this.fixture.fail?.(undefined);
    await this.fixture.lag?.(0);
    this.#http?.fail(undefined);
  }

  async #proxied(): Promise<HttpFaults> {
    const { http } = this.fixture;
    if (!http) throw new NotVerifiable('the fixture has neither fail nor http');
    const faults = await httpFaults(http);
    this.#http = faults;
    await this.close();
    await this.start();
    return faults;
  }

  #countingSleeps(clock: ProviderHost['clock']): ProviderHost['clock'] {
    return {
      now: () => clock.now(),
      monotonic: () => clock.monotonic(),
      sleep: async (delayMs, signal) => {
        this.#sleeps.pending++;
        try {
          await clock.sleep(delayMs, signal);
        } finally {
          this.#sleeps.pending--;
        }
      },
    };
  }
}

/** Deadlines keep no process alive, and a request that hangs does not either. */
async function kept<T>(work: Promise<T>): Promise<T> {
  const hold = systemClock.setTimer(A_DAY_MS, () => {});
  try {
    return await work;
  } finally {
    hold.cancel();
  }
}

/** What an answer says, for a message. */
export function wordsOf(answer: InstanceAnswer | undefined): string {
  if (answer?.result.kind === 'failed') return `failed: ${String(answer.result.error)}`;
  return answer?.result.kind ?? 'no answer';
}

function firstLine(error: unknown): string {
  const [line = ''] = (error instanceof Error ? error.message : String(error)).split('\n', 1);
  return line;
}
