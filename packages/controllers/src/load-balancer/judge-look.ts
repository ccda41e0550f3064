/**
 * What a look leaves out may be there all the same: clouds answer with empty lists when they are unwell, and lists lag. Before a plan
 * that rests on such a look is carried out, it is proved, believed or waited for. Pure: entry point `judgeLook`.
 */
import type {
  LoadBalancerAction,
  LoadBalancerPart,
  LoadBalancers,
  LoadBalancerService,
  Owner,
  PartAnswer,
  PartName,
  PartQuestion,
} from '@outrigger/cloud-provider';
import { isOwnedBy } from './check-plan.ts';
import type { KnownParts, PartsRecord } from './known-parts.ts';
import type { Bring, LookAgain, ServicePlan } from './service-plan.ts';

/** So long looks have to leave out the same, in a cloud that neither can be asked nor says that its looks show all. */
export const BELIEVED_AFTER_MS = 90_000;

/** Each may be a request of its own, and tenants may write how many there are: one that fails spares the others. */
export const MOST_ASKED = 20;

/** How sure the provider says its looks are, and what it can be asked. */
type Trust = Pick<LoadBalancers, 'consistency' | 'namedByOwner' | 'read'>;

/** Looks that leave out the same; monotonic times. */
interface Wait {
  readonly what: string;
  readonly since: number;
  readonly lookedAt: number;
}

/** What is known of a Service's parts, and for how long looks have left out the same of it. */
export interface Knowledge {
  readonly parts: KnownParts;
  readonly wait: Wait | undefined;
  /** A look of this process has left out nothing that was known: what another process was waiting for is over. */
  readonly isShown: boolean;
  /** Something of it was seen in the cloud, or asked for by this process: it rests on more than a record, which tenants may write. */
  readonly isProved: boolean;
}

/** A wait that was begun: since when (milliseconds since the epoch), and for what. */
export interface MissingRecord extends PartsRecord {
  readonly since: number;
}

export interface Look {
  readonly parts: readonly LoadBalancerPart[];
  /** Monotonic. */
  readonly startedAt: number;
  /** What the cloud said when it was asked after this look, by `questionKey`. */
  readonly answers: ReadonlyMap<string, PartAnswer>;
}

export interface JudgeOptions {
  readonly owner: Owner;
  readonly service: Pick<LoadBalancerService, 'adopt'>;
  /** The Service has an address: all that it needs was there once. */
  readonly served: boolean;
  readonly trust: Trust;
  /** Nothing that was asked for earlier can still take effect from here on; monotonic. */
  readonly quietFrom: number;
  /** As `quietFrom`, for requests whose answers were lost: they may also undo what a look shows. Default: there are none. */
  readonly uncertainUntil?: number;
  /** The wait that another process has begun; its time in this process's monotonic time. */
  readonly recorded: MissingRecord | undefined;
  readonly now: number;
}

export interface Judged {
  /** What is to be done: the plan, a part of it, or what has to be found out before. */
  readonly plan: ServicePlan;
  readonly knowledge: Knowledge;
}

/** What stands in the way of a plan. */
interface Doubt {
  /** Known by name, and not shown. */
  readonly missing: readonly PartName[];
  /** Something that nobody has seen may be there. */
  readonly unseen: boolean;
  /** What can be done of the plan all the same: it comes before what is in doubt. */
  readonly sure: readonly LoadBalancerAction[];
}

export function judgeLook(plan: ServicePlan, before: Knowledge, look: Look, options: JudgeOptions): Judged {
  const parts = before.parts.copy();
  const found = parts.see(look.parts, options.owner, options.service);
  const wait = goOn(found ? 'anew' : before.wait, parts, look, before.isShown ? undefined : options.recorded);
  const isShown = before.isShown || wait === undefined;
  const isProved = before.isProved || look.parts.some((part) => isOwnedBy(part, options.owner));
  // What is missing is found out first; then what nobody has seen. Each is in doubt once.
  for (;;) {
    const doubt = findDoubt(plan, parts, look, options);
    if (!doubt) break;
    const wanted =
      plan.kind === 'bring' ? plan.desired.wanted : plan.kind === 'failed' ? plan.wanted : plan.kind !== 'nothing';
    const answer = resolve(doubt, { parts, wait, look, options, wanted });
    if (answer !== 'gone')
      return { plan: inPlaceOf(plan, doubt, answer), knowledge: { parts, wait, isShown, isProved } };
    parts.forget(doubt.missing);
    // What was waited for is believed as a whole; a proof is about what was asked.
    if (doubt.unseen || !isProvable(options.trust)) parts.beSure();
  }
  const { now, uncertainUntil = -Infinity } = options;
  if (plan.kind === 'bring' && plan.complete && plan.desired.wanted && look.startedAt < uncertainUntil) {
    const later: LookAgain = { kind: 'look-again', why: 'quiet', missing: [], inMs: Math.max(0, uncertainUntil - now) };
    return { plan: later, knowledge: { parts, wait, isShown, isProved } };
  }
  // All that it needs is there. Of one that is refused it is known of the members alone.
  if (plan.kind === 'bring' && plan.complete && !plan.refused) parts.beSure();
  const isOver = parts.missingIn(look.parts, 'there').length === 0 && parts.unseen.length === 0;
  return { plan, knowledge: { parts, wait: isOver ? undefined : wait, isShown: isShown || isOver, isProved } };
}

/** What a question is known by among those about one Service. */
export const questionKey = ({ id, kind }: Pick<PartQuestion, 'id' | 'kind'>): string =>
  id === undefined ? kind : `${kind} ${id}`;

function findDoubt(plan: ServicePlan, known: KnownParts, look: Look, options: JudgeOptions): Doubt | undefined {
  const { trust, owner, served } = options;
  const missing = known.missingIn(look.parts, 'there');
  // Whatever else it shows: lists of the kinds of parts are asked of different services, one of which may be unwell.
  if (missing.length > 0) return { missing, unseen: false, sure: [] };
  if (look.parts.length === 0 && known.someMade) return { missing: [], unseen: true, sure: [] };
  // Nobody is recorded as its owner, and what was asked for may still come.
  const isUnclaimed = plan.kind === 'nothing' && plan.reason === 'unclaimed';
  if (isUnclaimed && known.unseen.length > 0) return { missing: [], unseen: true, sure: [] };
  if (plan.kind !== 'bring') return undefined;
  const { complete, desired, plan: bring } = plan;
  const mayHaveMore = known.unseen.length > 0;
  if (!desired.wanted && complete) {
    const going = trust.read ? known.missingIn(look.parts, 'going') : [];
    return going.length > 0 || mayHaveMore ? { missing: going, unseen: mayHaveMore, sure: [] } : undefined;
  }
  const shows = (kind: string): boolean => look.parts.some((part) => part.kind === kind && isOwnedBy(part, owner));
  const isUnsure = ({ ends = [], kind, part }: LoadBalancerAction): boolean => {
    // What is left to others because nothing is seen to use it would not be found again.
    if (!desired.wanted) return kind !== 'delete' && ends.length > 0 && mayHaveMore;
    if (kind !== 'create') return false;
    if (known.mayHave(part, 'made')) return true;
    // Where that takes a moment. Else, what is asked for again or was never served is made at once: `apply` can be repeated.
    if (isQuick(trust)) return known.mayHave(part, 'asked') || known.mayHave(part, 'anything');
    return known.mayHave(part, 'anything') && served && !shows(part);
  };
  const first = bring.actions.findIndex(isUnsure);
  return first < 0 ? undefined : { missing: [], unseen: true, sure: bring.actions.slice(0, first) };
}

type Resolution = 'gone' | LookAgain | Extract<ServicePlan, { kind: 'ask' | 'failed' }>;

interface Circumstances extends Pick<Knowledge, 'parts' | 'wait'> {
  readonly look: Look;
  readonly options: JudgeOptions;
  readonly wanted: boolean;
}

function resolve(doubt: Doubt, { look, options, parts, wait, wanted }: Circumstances): Resolution {
  const { now, owner, quietFrom, trust } = options;
  const missing = [...doubt.missing.map(({ id, kind }) => `${kind} ${id}`), ...(doubt.unseen ? parts.unseen : [])];
  const lookAgain = (why: LookAgain['why'], at: number): LookAgain => {
    return { kind: 'look-again', why, missing, inMs: Math.max(0, at - now) };
  };
  const believedAt = (wait?.since ?? look.startedAt) + BELIEVED_AFTER_MS;
  if ((doubt.missing.length > 0 && !isProvable(trust)) || (doubt.unseen && !isQuick(trust))) {
    return look.startedAt < believedAt ? lookAgain('waits', believedAt) : 'gone';
  }
  // What was asked for a moment ago may still take effect.
  if ((doubt.unseen || !trust.read) && look.startedAt < quietFrom) return lookAgain('quiet', quietFrom);
  const questions = [
    ...(trust.read ? doubt.missing.map(({ id, kind }) => ({ id, kind, owner })) : []),
    ...(doubt.unseen && canName(trust) ? unshownKinds(trust, look, owner) : []),
  ];
  const answers = questions.map((question) => look.answers.get(questionKey(question)));
  const failed = answers.find((answer) => answer?.kind === 'failed');
  if (failed) return { kind: 'failed', wanted, error: failed.error };
  const open = questions.filter((_, i) => answers[i] === undefined);
  if (open.length > 0) return { kind: 'ask', questions: open.slice(0, MOST_ASKED) };
  const there = answers.filter((answer) => answer?.kind === 'there');
  if (there.some(({ isUnowned }) => !isUnowned)) return lookAgain('hidden', now);
  // Nothing proves that it is the Service's: whether it concerns it any more, looks alone say.
  return there.length > 0 && look.startedAt < believedAt ? lookAgain('waits', believedAt) : 'gone';
}

/** Kinds that the cloud can be asked for by their owner, and of which a look shows nothing. */
export function unshownKinds(
  { namedByOwner = [] }: Pick<Trust, 'namedByOwner'>,
  look: Pick<Look, 'parts'>,
  owner: Owner,
): readonly PartQuestion[] {
  const isShown = (kind: string): boolean => look.parts.some((part) => part.kind === kind && isOwnedBy(part, owner));
  return namedByOwner.filter((kind) => !isShown(kind)).map((kind) => ({ kind, owner }));
}

function inPlaceOf(plan: ServicePlan, { sure }: Doubt, answer: Exclude<Resolution, 'gone'>): ServicePlan {
  if (plan.kind !== 'bring' || sure.length === 0 || answer.kind === 'ask') return answer;
  const bring: Bring = { ...plan, plan: { ...plan.plan, actions: sure }, complete: false };
  return answer.kind === 'look-again' ? { ...bring, later: answer } : bring;
}

/** Looks that leave out the same; those that are too far apart prove nothing about the time between them. */
function goOn(
  last: Wait | 'anew' | undefined,
  known: KnownParts,
  look: Look,
  recorded: MissingRecord | undefined,
): Wait | undefined {
  const { parts, startedAt } = look;
  const missing = known.missingIn(parts, 'there');
  const { unseen } = known;
  if (missing.length === 0 && unseen.length === 0) return undefined;
  const what = [...missing.map(({ id, kind }) => `${kind} ${id}`), ...unseen].join();
  // What appears proves the looks before it wrong.
  if (last === 'anew') return { what, since: startedAt, lookedAt: startedAt };
  if (last) {
    const goesOn = last.what === what && startedAt - last.lookedAt <= BELIEVED_AFTER_MS;
    return { what, since: goesOn ? last.since : startedAt, lookedAt: startedAt };
  }
  const isRecorded =
    recorded !== undefined &&
    (unseen.length === 0 || recorded.open) &&
    missing.every((one) => recorded.parts.some(({ id, kind }) => id === one.id && kind === one.kind));
  return { what, since: isRecorded ? Math.min(recorded.since, startedAt) : startedAt, lookedAt: startedAt };
}

/** Whether something that was there can be found out about without a wait. */
const isProvable = ({ consistency, read }: Trust): boolean => read !== undefined || consistency === 'strong';

/** Whether something that nobody has seen can be found out about without a wait. */
const isQuick = (trust: Trust): boolean => trust.consistency === 'strong' || canName(trust);

/** Whether the cloud can be asked for parts by names that are made from the owner, seen or not. */
export const canName = ({ namedByOwner = [], read }: Trust): boolean => read !== undefined && namedByOwner.length > 0;
