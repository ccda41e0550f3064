/** Carries out what a step wants: Events, log and metrics, and what of a pass waits for a server or the cloud. */
import type { CallContext, PartAnswer } from '@outrigger/cloud-provider';
import {
  isConflict,
  isInvalid,
  isNotFound,
  resources,
  type Counter,
  type ObjectMeta,
  type ResourceClient,
  type Service,
} from '@outrigger/kube';
import { DELETED, noJournal, subjectOf, type ControllerJournal, type Subject } from '../journal.ts';
import { applyActions } from '../load-balancer/apply-actions.ts';
import { createActionCounter } from '../load-balancer/count-actions.ts';
import { notedOf } from '../load-balancer/load-balancer-words.ts';
import type { Locks } from '../load-balancer/locks.ts';
import { readParts } from '../load-balancer/read-parts.ts';
import type { Bring } from '../load-balancer/service-plan.ts';
import { tellContested } from '../tell-contested.ts';
import { ToldEvents } from '../told-events.ts';
import type { WrittenVersions } from '../written-versions.ts';
import { lookUnderLock } from './look-under-lock.ts';
import type { About, Pass } from './pass-context.ts';
import type { ServiceControllerDependencies } from './service-dependencies.ts';
import { COUNTERS, type ServiceMetrics } from './service-metrics.ts';
import { isLeftover, type ServiceStates } from './service-states.ts';
import type { Effect, Next, Read, ServiceEvent, Write } from './step-types.ts';
import { wakingText } from './waking-text.ts';
import { readyCondition } from './well-known-names.ts';

/** As in fieldsV1. */
const PATHS = {
  loadBalancer: ['f:status', 'f:loadBalancer', 'f:ingress'],
  conditions: ['f:status', 'f:conditions', `k:{"type":"${readyCondition}"}`],
} as const;

const CHANGED = 'Service was deleted, replaced or changed in the meantime';

/** So many are asked with a worker, where there is no place to wait without one. */
const FEW_QUESTIONS = 5;

export interface ServiceEffectsOptions {
  readonly deps: ServiceControllerDependencies;
  readonly locks: Locks;
  readonly metrics: ServiceMetrics;
  readonly states: ServiceStates;
  /** The cloud is to be asked about it. */
  readonly ask: (key: string) => void;
  /** It is gone itself, and has to go for the sake of others. */
  readonly crowdOut: (key: string) => void;
  /** Its turn is to come. */
  readonly wake: (key: string) => void;
  readonly written: WrittenVersions;
}

export class ServiceEffects {
  readonly #options: ServiceEffectsOptions;
  readonly #services: ResourceClient<Service>;
  readonly #told: ToldEvents;
  readonly #actions: Counter;
  readonly #journal: ControllerJournal;

  constructor(options: ServiceEffectsOptions) {
    const { client, clock, events, journal = noJournal, metrics } = options.deps;
    this.#options = options;
    this.#services = client.of(resources.services);
    this.#told = new ToldEvents(events, clock);
    this.#actions = createActionCounter(metrics);
    this.#journal = journal;
  }

  /** At once, but for what has to be read before it can be told: within a pass alone. */
  carryOut(effect: Effect, about: About): Promise<void> | void {
    const { key, logger, service } = about;
    const { crowdOut, deps, locks, metrics, states, wake, written } = this.#options;
    const { uid = '' } = service.metadata ?? {};
    switch (effect.kind) {
      case 'tell':
        this.#told.tell(service, effect.note);
        return;
      case 'record':
        return deps.events.record(service, effect.note);
      case 'tell-contested':
        return this.#tellContested(about, effect.field);
      case 'log':
        if (typeof effect.level === 'number') logger.verbose(effect.level, effect.message, effect.fields);
        else logger[effect.level](effect.message, effect.fields);
        return;
      case 'plan':
        return this.#journal.plan(subjectOfPass(about), effect.actions);
      case 'ask':
        return this.#options.ask(key);
      case 'count':
        return metrics[COUNTERS[effect.what]].inc();
      case 'updated':
        return metrics.updateLatency.observe(effect.afterMs / 1000);
      case 'forget-lock':
        // A lock with a name of its own is shared: what others know by it stays.
        locks.forget(uid);
        // The watch may have been faster than the answer.
        if (!deps.services.get(key)) written.forget(key);
        return;
      case 'forget':
        this.#journal.plan(subjectOfPass(about), []);
        written.forget(key);
        if (effect.isGone) this.#told.forget(uid);
        return;
      case 'leave-over': {
        const left = states.leaveOver(effect.state);
        if (left.surplus !== undefined) crowdOut(left.surplus);
        return wake(left.key);
      }
    }
  }

  /** What a pass waits for; `undefined`: the pass is over. */
  async perform(next: Next, pass: Pass): Promise<ServiceEvent | undefined> {
    switch (next.kind) {
      case 'write':
        return { kind: 'written', write: next.write, metadata: await this.#write(next.write, pass) };
      case 'read':
        return this.#read(next.read, pass);
      case 'look': {
        const seen = await lookUnderLock(pass, this.#options.deps);
        if (!seen) this.#options.ask(pass.key);
        return seen;
      }
      case 'confirm':
        return { kind: 'confirmed', bring: next.bring, found: await this.#readBack(pass) };
      case 'apply':
        return this.#apply(next.bring, pass);
      default:
        return undefined;
    }
  }

  #write(write: Write, pass: Pass): Promise<ObjectMeta | undefined> {
    const failureOf = (metadata: ObjectMeta | undefined): string | undefined =>
      metadata ? undefined : `the ${CHANGED}`;
    const action = { ...write.action, write: { object: pass.service, patch: write.patch } };
    return this.#journal.perform(subjectOfPass(pass), [action], () => this.#patch(write, pass), failureOf);
  }

  /** Returns the new metadata; `undefined` when the Service is gone, another one, or was written by another meanwhile. */
  async #patch({ patch, purpose }: Write, { key, logger, service, signal }: Pass): Promise<ObjectMeta | undefined> {
    const { name = '', namespace } = service.metadata ?? {};
    try {
      const options = { subresource: 'status', answer: 'metadata', signal } as const;
      const { metadata } = await this.#services.patch({ name, namespace }, patch, options);
      this.#options.written.note(key, metadata);
      return metadata;
    } catch (error) {
      // What the server finds wrong of the values themselves it gives causes for.
      const isTest = patch.type === 'json' && isInvalid(error) && !error.details.causes?.length;
      const isOld = isTest || isNotFound(error) || isConflict(error) || isAboutUid(error);
      // What a Service says of itself keeps nothing from being done.
      if (!isOld && (purpose !== 'condition' || signal.aborted)) throw error;
      logger.verbose(isOld ? 4 : 2, isOld ? `The ${CHANGED}` : 'The condition of the Service could not be written', {
        error,
      });
      return undefined;
    }
  }

  /** A look leaves out what may be there: its plan waits for what the cloud says of that very part. */
  async #read(read: Read, pass: Pass): Promise<ServiceEvent> {
    const { clock, provider } = this.#options.deps;
    const { questions } = read;
    const { logger, signal } = pass;
    const callContext = (either: AbortSignal): CallContext => this.#callContext(pass, either, true);
    const begin = (): Promise<readonly PartAnswer[]> => readParts(questions, { provider, callContext, clock, signal });
    // Tenants may write what is asked about: of many it has no worker meanwhile, or waits for a place.
    const reading = pass.park(begin) ?? (questions.length <= FEW_QUESTIONS ? begin() : undefined);
    if (!reading) return { kind: 'read', read, answers: undefined };
    const answers = await reading;
    for (const [i, question] of questions.entries()) {
      logger.verbose(2, 'The cloud was asked directly about a part', { ...question, answer: answers[i] });
    }
    return { kind: 'read', read, answers };
  }

  async #apply(bring: Bring, pass: Pass): Promise<ServiceEvent> {
    const { deps, locks, states } = this.#options;
    const { actions } = bring.plan;
    // As this pass knows it. To take away what it no longer has is right, whatever it asks for by now.
    const isCurrent = (): boolean =>
      !bring.desired.wanted || wakingText(states.subjectOf(pass.key) ?? {}) === wakingText(pass.service);
    const noted = notedOf(bring);
    const notes = new Map(actions.map((action, i) => [action, noted[i]] as const));
    try {
      const applied = await applyActions(actions, bring.desired, {
        provider: deps.provider,
        callContext: (either) => this.#callContext(pass, either, false),
        clock: deps.clock,
        counter: this.#actions,
        logger: pass.logger,
        signal: pass.signal,
        isCurrent,
        // Others of the same load balancer would wait for all of the plan.
        park: (wait) => (locks.isAwaited(pass.lock) ? undefined : pass.park(wait)),
        onResult: (action, result) => {
          pass.onApplied({ kind: 'applied', action, result });
          const note = notes.get(action);
          if (!note) return;
          const pending = result.kind === 'pending' ? { pending: result.handle } : undefined;
          this.#journal.note(subjectOfPass(pass), [note], result.kind === 'failed' ? result : pending);
        },
      });
      return { kind: 'ended', bring, applied };
    } finally {
      locks.noteApplied(pass.lock, deps.clock.monotonic());
    }
  }

  #callContext({ service }: Pass, signal: AbortSignal, reads: boolean): CallContext {
    const about = [service.metadata?.uid ?? ''];
    return this.#options.deps.callContext({ signal, priority: 'normal', about, reads });
  }

  async #tellContested(about: About, field: keyof typeof PATHS): Promise<void> {
    const { logger, service, signal } = about;
    const contested = { field: `status.${field}`, path: PATHS[field], read: () => this.#readBack(about) };
    await tellContested(service, contested, this.#told, { logger, signal });
  }

  /** Past the watch, by a list of one, which the program may ask for already. */
  async #readBack({ service, signal }: About): Promise<Service | undefined> {
    const { name = '', namespace = '' } = service.metadata ?? {};
    const { items } = await this.#services.list({ namespace, fieldSelector: `metadata.name=${name}`, signal });
    return items[0];
  }
}

/** The server reads a UID in a status patch as an attempt to change it: this is another Service of the same name. */
function isAboutUid(error: unknown): boolean {
  return isInvalid(error) && (error.details.causes ?? []).some(({ field }) => field === 'metadata.uid');
}

/** What the journal knows the Service by; another one of the name of one that is gone may be there. */
function subjectOfPass({ key, service }: About): Subject {
  const subject = subjectOf('Service', service);
  return isLeftover(key) ? { ...subject, name: `${subject.name}${DELETED}` } : subject;
}
