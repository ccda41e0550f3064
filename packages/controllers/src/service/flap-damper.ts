/**
 * Which changes of a node load balancers do not follow at once. Each may cost a write on every one of them, and a kubelet may label its
 * Node, or make it anew, as often as it likes. Pure: entry point `noteChange`.
 */
import type { BackEnd } from '@outrigger/cloud-provider';
import type { EventNote } from '@outrigger/kube';
import type { Fact } from '../finding.ts';

/** So many changes … */
const FREE = 3;
/** … within this time are followed at once, and after this time without a change all is forgotten. */
const WITHIN_MS = 300_000;
/** What comes so soon after a change is in the same update of the load balancers (`NodeChanges`), and is none of its own. */
const TOGETHER_MS = 2_500;
const FIRST_HOLD_MS = 10_000;
const LONGEST_HOLD_MS = 300_000;

/** How a node has changed of late; times are monotonic. */
export interface Flapping {
  /** Changes that were followed, or began a hold: the last ones, the oldest first. */
  readonly countedAt: readonly number[];
  /** The last change, whatever became of it. */
  readonly lastAt: number;
  /** Of the last hold; 0: there was none. */
  readonly holdMs: number;
  readonly heldUntil: number;
}

const QUIET: Flapping = { countedAt: [], lastAt: -Infinity, holdMs: 0, heldUntil: -Infinity };

/** The node has changed; whether that is followed at once is `isHeld` of the result. */
export function noteChange(before: Flapping = QUIET, now: number): Flapping {
  const known = { ...(isQuiet(before, now) ? QUIET : before), lastAt: now };
  if (isHeld(known, now)) return known;
  const recent = known.countedAt.filter((at) => at > now - WITHIN_MS);
  const last = recent.at(-1);
  if (last !== undefined && now < last + TOGETHER_MS) return known;
  const countedAt = [...recent, now].slice(-FREE);
  if (recent.length < FREE && known.holdMs === 0) return { ...known, countedAt };
  const holdMs = Math.min(LONGEST_HOLD_MS, Math.max(FIRST_HOLD_MS, 2 * known.holdMs));
  return { ...known, countedAt, holdMs, heldUntil: now + holdMs };
}

/** Whether load balancers keep what they have of the node. */
export function isHeld({ heldUntil }: Flapping, now: number): boolean {
  return now < heldUntil;
}

/** Nothing of it matters any more. */
export function isQuiet({ heldUntil, lastAt }: Flapping, now: number): boolean {
  return now >= Math.max(lastAt, heldUntil) + WITHIN_MS;
}

/**
 * Whether some load balancer may have to be written for it. A label that is new is none: programs that describe nodes add theirs one
 * after the other, and one that selects the node has to go before it can come again.
 */
export function isMembershipChange(before: BackEnd | undefined, after: BackEnd | undefined): boolean {
  if (!before || !after) return before !== after;
  const [a, b] = [before.node, after.node];
  const isMoved = before.addresses !== after.addresses || a.uid !== b.uid || a.providerID !== b.providerID;
  return isMoved || Object.entries(a.labels).some(([key, value]) => b.labels[key] !== value);
}

export function flappingNote({ holdMs }: Flapping): EventNote {
  const message = `This node has entered or left load balancers more than ${FREE} times within ${WITHIN_MS / 60_000} min. They keep it as it is for ${holdMs / 1_000} s. Find out what changes its labels or addresses, or recreates it: its kubelet may. To remove it from them at once, delete the node.`;
  return { type: 'Warning', reason: 'BackEndFlapping', message };
}

export function flappingFact(name: string, { heldUntil }: Flapping, now: number): Fact {
  return {
    text: `The node ${name} has changed too often recently: its load balancers keep it as it was until then.`,
    inMs: Math.max(0, heldUntil - now),
  };
}
