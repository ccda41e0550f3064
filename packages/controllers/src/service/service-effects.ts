/** Carries out what a step wants: Events, log and metrics, and what of a pass waits for a server or the cloud. */
import type { CallContext } from '@outrigger/cloud-provider';
import {
  isConflict,
  isInvalid,
  isNotFound,
  resources,
  type Counter,
  type Logger,
  type ObjectMeta,
  type ReconcileContext,
  type ResourceClient,
  type Service,
} from '@outrigger/kube';
import { CONTESTED_REASON, contestedNote, managerOf } from '../contested-field.ts';
import { DELETED, noJournal, subjectOf, type ControllerJournal, type Subject } from '../journal.ts';
import { applyActions } from '../load-balancer/apply-actions.ts';
import { createActionCounter } from '../load-balancer/count-actions.ts';
import { notedOf } from '../load-balancer/load-balancer-words.ts';
import type { Locks } from '../load-balancer/locks.ts';
import { readParts } from '../load-balancer/read-parts.ts';
import type { Bring } from '../load-balancer/service-plan.ts';
import { ToldEvents } from '../told-events.ts';
import type { WrittenVersions } from '../written-versions.ts';
import type { ServiceControllerDependencies } from './service-dependencies.ts';
import { createServiceMetrics, type ServiceMetrics } from './service-metrics.ts';
import { readyCondition } from './well-known-names.ts';
import type { ServiceState } from './service-state.ts';
import type { Effect, Next, Read, ServiceEvent, Write } from './step-types.ts';

/** As in fieldsV1. */
const PATHS = {
  loadBalancer: ['f:status', 'f:loadBalancer', 'f:ingress'],
  conditions: ['f:status', 'f:conditions', `k:{"type":"${readyCondition}"}`],
} as const;

const CHANGED = 'Service was deleted, replaced or changed in the meantime';

/** What the effects of one step are about. */
export interface About {
  readonly key: string;
  readonly service: Service;
  /** The object itself is gone. */
  readonly isLeftover: boolean;
  readonly logger: Logger;
  /** Of a pass. */
  readonly lock?: string;
  readonly signal?: AbortSignal;
}

/** A pass, under its lock. */
export interface Pass extends About {
  readonly lock: string;
  /** Ends with the process, or with the leadership. */
  readonly signal: AbortSignal;
  /** Whether the Service is still as this pass knows it; asked before each action. */
  readonly isCurrent: (bring: Bring) => boolean;
  /** As `ReconcileContext.park`. */
  readonly park: ReconcileContext['park'];
  /** One action has ended, while others are still to come. */
  readonly onApplied: (event: Extract<ServiceEvent, { kind: 'applied' }>) => void;
}

export interface ServiceEffectsOptions {
  readonly deps: ServiceControllerDependencies;
  readonly locks: Locks;
  readonly written: WrittenVersions;
  readonly leaveOver: (state: ServiceState) => void;
}

export class ServiceEffects {
  readonly #options: ServiceEffectsOptions;
  readonly #services: ResourceClient<Service>;
  readonly #told: ToldEvents;
  readonly #metrics: ServiceMetrics;
  readonly #actions: Counter;
  readonly #journal: ControllerJournal;

  constructor(options: ServiceEffectsOptions) {
    const { client, clock, events, journal = noJournal, metrics } = options.deps;
    this.#options = options;
    this.#services = client.of(resources.services);
    this.#told = new ToldEvents(events, clock);
    this.#metrics = createServiceMetrics(metrics);
    this.#actions = createActionCounter(metrics);
    this.#journal = journal;
  }

  /** All that were to follow the nodes have done so. */
  nodesFollowed(afterMs: number): void {
    this.#metrics.nodeSyncLatency.observe(afterMs / 1000);
  }

  /** At once, but for what has to be read before it can be told: within a pass alone. */
  carryOut(effect: Effect, about: About): Promise<void> | void {
    const { key, logger, service } = about;
    const { deps, leaveOver, locks, written } = this.#options;
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
      case 'count':
        return (effect.what === 'sync' ? this.#metrics.syncs : this.#metrics.nodeSyncErrors).inc();
      case 'updated':
        return this.#metrics.updateLatency.observe(effect.afterMs / 1000);
      case 'forget-lock': {
        const { uid = '' } = service.metadata ?? {};
        // A lock with a name of its own is shared: what others know by it stays.
        if (about.lock === uid) locks.forget(uid);
        // The watch may have been faster than the answer.
        if (!deps.services.get(key)) written.forget(key);
        return;
      }
      case 'forget':
        this.#journal.plan(about.isLeftover ? subjectOfPass(about) : { kind: 'Service', name: key, uid: '' }, []);
        written.forget(key);
        if (effect.isGone) this.#told.forget(service.metadata?.uid ?? '');
        return;
      case 'leave-over':
        return leaveOver(effect.state);
    }
  }

  /** What a pass waits for; `undefined`: the pass is over. */
  async perform(next: Next, pass: Pass): Promise<ServiceEvent | undefined> {
    switch (next.kind) {
      case 'write':
        return { kind: 'written', write: next.write, metadata: await this.#write(next.write, pass) };
      case 'read':
        return this.#read(next.read, pass);
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
      const isOld = isNotFound(error) || isConflict(error) || isAboutUid(error);
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
    const answers = await readParts(questions, { provider, callContext, clock, signal });
    for (const [i, question] of questions.entries()) {
      logger.verbose(2, 'The cloud was asked directly about a part', { ...question, answer: answers[i] });
    }
    return { kind: 'read', read, answers };
  }

  async #apply(bring: Bring, pass: Pass): Promise<ServiceEvent> {
    const { deps, locks } = this.#options;
    const { actions } = bring.plan;
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
        isCurrent: () => pass.isCurrent(bring),
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

  /** The store keeps no managedFields, so the Service is read once: by a list of one, which the program may ask for already. */
  async #tellContested({ logger, service, signal }: About, field: keyof typeof PATHS): Promise<void> {
    if (this.#told.wasTold(service, CONTESTED_REASON)) return;
    const { name = '', namespace = '' } = service.metadata ?? {};
    let manager: string | undefined;
    try {
      const fieldSelector = `metadata.name=${name}`;
      const { items } = await this.#services.list({ namespace, fieldSelector, ...(signal && { signal }) });
      manager = items[0] && managerOf(items[0], PATHS[field]);
    } catch (error) {
      signal?.throwIfAborted();
      logger.verbose(2, 'Who else writes the status of the Service could not be read', { error });
    }
    const note = contestedNote(`status.${field}`, manager);
    if (this.#told.tell(service, note)) logger.warn(note.message);
  }
}

/** A pass goes on with what the server answered; what is settled is what was judged, without what others wrote meanwhile. */
export function asAnswered(service: Service, event: ServiceEvent): Service {
  if (event.kind !== 'written' || !event.metadata) return service;
  const { purpose } = event.write;
  return purpose === 'record' || purpose === 'open' ? { ...service, metadata: event.metadata } : service;
}

/** The server reads a UID in a status patch as an attempt to change it: this is another Service of the same name. */
function isAboutUid(error: unknown): boolean {
  return isInvalid(error) && (error.details.causes ?? []).some(({ field }) => field === 'metadata.uid');
}

/** What the journal knows the Service by; another one of the name of one that is gone may be there. */
function subjectOfPass({ isLeftover, service }: About): Subject {
  const subject = subjectOf('Service', service);
  return isLeftover ? { ...subject, name: `${subject.name}${DELETED}` } : subject;
}
