/** Several providers, each of which answers for nodes without a provider ID only where no other cloud has a say in it. */
import {
  asError,
  CloudError,
  type Capabilities,
  type ConfigText,
  type InstanceNeed,
  type NodeRef,
} from '@outrigger/cloud-provider';
import type { DatedAnswer } from './answer-defaults.ts';
import { raceAbort, type Clock } from '@outrigger/kube';
import type { CallRecord } from './call-log.ts';
import type { InstanceLookups, LookUpOptions, ReadOptions } from './instance-lookups.ts';
import type { MakeCallContext } from './make-call-context.ts';
import type { AnswerListener, InstanceSnapshot } from './instance-snapshot.ts';
import type { LateProvider } from './late-provider.ts';
import { NodeClaims, PATIENCE_MS, type CloudsAnswer } from './node-claims.ts';
import type { OpenedProvider } from './open-provider.ts';

export interface JoinOptions {
  readonly clock: Clock;
}

/**
 * The same providers, in the same order. Look-ups and reads of a node with a provider ID go to the one provider that is asked, as
 * ever. One without is asked for at all of them: of what they say, each is given what its controllers are to go by. It is
 * `found` for one of them at most; where another has it or may have it, `failed` with `implemented-elsewhere`, `retry-after`
 * or, once for all, `conflict`. That no cloud has it, the first one is told.
 */
export function joinProviders(providers: readonly LateProvider[], { clock }: JoinOptions): readonly OpenedProvider[] {
  const claims = new NodeClaims();
  const withMachines = new Set<string>();
  for (const provider of providers) {
    const note = (): void => void (provider.lookups && withMachines.add(provider.name));
    note();
    provider.onCapabilitiesChanged(note);
  }
  return providers.map((provider) => new Joined(provider, { providers, withMachines, claims, clock }));
}

interface Shared {
  readonly providers: readonly LateProvider[];
  /** Clouds that have, or have had, machines. */
  readonly withMachines: ReadonlySet<string>;
  readonly claims: NodeClaims;
  readonly clock: Clock;
}

class Joined implements OpenedProvider {
  readonly #provider: LateProvider;
  readonly #shared: Shared;
  /** One for each that the provider has had: another object means to start anew. */
  readonly #lookups = new WeakMap<InstanceLookups, JoinedLookups>();

  constructor(provider: LateProvider, shared: Shared) {
    this.#provider = provider;
    this.#shared = shared;
  }

  get name(): string {
    return this.#provider.name;
  }

  get capabilities(): Capabilities {
    return this.#provider.capabilities;
  }

  get predecessorMetrics(): OpenedProvider['predecessorMetrics'] {
    return this.#provider.predecessorMetrics;
  }

  get lookups(): InstanceLookups | undefined {
    const { lookups } = this.#provider;
    if (!lookups) return undefined;
    let joined = this.#lookups.get(lookups);
    if (!joined) this.#lookups.set(lookups, (joined = new JoinedLookups(this.name, lookups, this.#shared)));
    return joined;
  }

  onCapabilitiesChanged(listener: (capabilities: Capabilities) => void): () => void {
    return this.#provider.onCapabilitiesChanged(listener);
  }

  onReconfigured(listener: () => void): () => void {
    return this.#provider.onReconfigured(listener);
  }

  callContext(options: Parameters<MakeCallContext>[0]): ReturnType<MakeCallContext> {
    return this.#provider.callContext(options);
  }

  recentCalls(uid?: string): readonly CallRecord[] {
    return this.#provider.recentCalls(uid);
  }

  reconfigure(config: ConfigText): Promise<void> {
    return this.#provider.reconfigure(config);
  }

  watchedFiles(): readonly string[] {
    return this.#provider.watchedFiles();
  }

  redact(text: string): string {
    return this.#provider.redact(text);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#provider[Symbol.asyncDispose]();
  }
}

/** One cloud's part of a question that all are asked. */
interface Asked {
  readonly cloud: string;
  readonly askedAt: number;
  answer: DatedAnswer | undefined;
  readonly settled: Promise<void>;
}

type Way = 'lookUp' | 'read';

class JoinedLookups implements InstanceLookups {
  readonly snapshot: JudgedSnapshot;
  readonly #name: string;
  readonly #own: InstanceLookups;
  readonly #shared: Shared;

  constructor(name: string, own: InstanceLookups, shared: Shared) {
    this.#name = name;
    this.#own = own;
    this.#shared = shared;
    this.snapshot = new JudgedSnapshot(own.snapshot, (uid) => shared.claims.forget(uid));
  }

  get hints(): InstanceLookups['hints'] {
    return this.#own.hints;
  }

  machineOf(providerID: string): string {
    return this.#own.machineOf(providerID);
  }

  lookUp(node: NodeRef, options: LookUpOptions): Promise<DatedAnswer> {
    return this.#ask('lookUp', node, options);
  }

  read(node: NodeRef, options: ReadOptions): Promise<DatedAnswer> {
    return this.#ask('read', node, options);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#own[Symbol.asyncDispose]();
  }

  async #ask(way: Way, node: NodeRef, options: LookUpOptions): Promise<DatedAnswer> {
    const { claims, clock, providers } = this.#shared;
    // An ID that names no provider may be anybody's, as none.
    if (node.providerID?.includes('://')) {
      this.snapshot.dismiss(node.uid);
      return this.#own[way](node, options);
    }
    using stay = this.snapshot.whileThere(node.uid);
    const asked = providers.flatMap((provider) => this.#question(provider, way, node, options));
    const own = asked.find(({ cloud }) => cloud === this.#name);
    // Its own answer is not hurried: without it there is nothing to judge.
    await own?.settled;
    options.signal.throwIfAborted();
    const others = asked.filter((one) => one !== own).map((one) => this.#patiently(one, own?.answer, options.signal));
    await Promise.all(others);
    options.signal.throwIfAborted();
    const answers = asked.map(({ cloud, askedAt, answer }): CloudsAnswer => ({ cloud, askedAt, answer }));
    const answer = claims.judge({ node, cloud: this.#name, answers, now: clock.monotonic() });
    if (stay.isGone) claims.forget(node.uid);
    else this.snapshot.keep(node.uid, options.need, answer);
    return answer;
  }

  /** None for a cloud that never had machines. One that is not open yet may have any, and one that had some, as many. */
  #question(provider: LateProvider, way: Way, node: NodeRef, options: LookUpOptions): readonly Asked[] {
    const { claims, clock, withMachines } = this.#shared;
    const { isOpen, name: cloud } = provider;
    const lookups = cloud === this.#name ? this.#own : provider.lookups;
    if (isOpen && !lookups && !withMachines.has(cloud)) return [];
    const now = clock.monotonic();
    claims.asked(cloud, now);
    const failed = (error: Error): DatedAnswer => ({ asOf: now, result: { kind: 'failed', error } });
    if (!lookups) {
      const why = isOpen ? 'says nothing of its machines now' : 'is not open yet';
      const answer = failed(new CloudError('unavailable', `the provider ${cloud} ${why}`));
      return [{ cloud, askedAt: now, answer, settled: Promise.resolve() }];
    }
    const settled = Promise.withResolvers<void>();
    const asked: Asked = { cloud, askedAt: now, answer: undefined, settled: settled.promise };
    void lookups[way](node, options)
      .catch((error: unknown) => failed(asError(error)))
      .then((answer) => {
        asked.answer = answer;
        if (!options.signal.aborted) claims.heard(cloud, answer);
        settled.resolve();
      });
    return [asked];
  }

  /** Waits for another cloud. One that has not been heard for a while keeps nobody from a machine that was found. */
  async #patiently(asked: Asked, own: DatedAnswer | undefined, signal: AbortSignal): Promise<void> {
    const { claims, clock } = this.#shared;
    const isFound = own?.result.kind === 'found';
    const patienceMs = isFound ? claims.patienceMs(asked, clock.monotonic()) : PATIENCE_MS;
    if (asked.answer || patienceMs === 0) return;
    const enough = new AbortController();
    const timer = clock.setTimer(patienceMs, () => enough.abort());
    await raceAbort(asked.settled, AbortSignal.any([signal, enough.signal])).catch(() => undefined);
    timer.cancel();
  }
}

/** Of one question about a node: whether the node has gone since. */
interface Stay extends Disposable {
  isGone: boolean;
}

/** For a node that all clouds were asked about: what came of it. For others: what this cloud said. */
class JudgedSnapshot implements InstanceSnapshot {
  readonly #own: InstanceSnapshot;
  readonly #forgotten: (uid: string) => void;
  readonly #judged = new Map<string, Partial<Record<InstanceNeed, DatedAnswer>>>();
  /** By UID: the questions that are not answered yet. */
  readonly #stays = new Map<string, Set<Stay>>();

  constructor(own: InstanceSnapshot, forgotten: (uid: string) => void) {
    this.#own = own;
    this.#forgotten = forgotten;
  }

  get size(): number {
    return this.#own.size;
  }

  get(uid: string, need: InstanceNeed): DatedAnswer | undefined {
    const judged = this.#judged.get(uid);
    return judged ? judged[need] : this.#own.get(uid, need);
  }

  subscribe(listener: AnswerListener): () => void {
    return this.#own.subscribe(listener);
  }

  whileThere(uid: string): Stay {
    const stays = this.#stays.get(uid) ?? new Set<Stay>();
    this.#stays.set(uid, stays);
    const end = (): void => {
      stays.delete(stay);
      if (stays.size === 0 && this.#stays.get(uid) === stays) this.#stays.delete(uid);
    };
    const stay: Stay = { isGone: false, [Symbol.dispose]: end };
    stays.add(stay);
    return stay;
  }

  forget(uid: string): void {
    for (const stay of this.#stays.get(uid) ?? []) stay.isGone = true;
    this.#judged.delete(uid);
    this.#forgotten(uid);
    this.#own.forget(uid);
  }

  keep(uid: string, need: InstanceNeed, answer: DatedAnswer): void {
    this.#judged.set(uid, { ...this.#judged.get(uid), state: answer, [need]: answer });
  }

  /** The node has its provider ID. */
  dismiss(uid: string): void {
    if (this.#judged.delete(uid)) this.#forgotten(uid);
  }
}
