/** What the cloud has said of pod CIDRs that nodes have: a kubelet chooses those with which it registers. */
import { contains, parseCidr } from '@outrigger/cloud-provider';
import type { DatedAnswer } from '@outrigger/cloud-runtime';
import { rangesIn } from './cloud-ranges-inputs.ts';
import { parseCidrs } from './parse-cidrs.ts';

/** So many answers without ranges say that there are none: a new machine gets its ranges a little later than it is there. */
const PATIENT_ANSWERS = 3;
/** Sooner than this, the same has been asked twice. */
const APART_MS = 500;

interface Verdict {
  readonly cidrs: string;
  readonly isTrue: boolean | undefined;
  /** Answers without ranges. */
  readonly without: number;
  /** Of the last answer that counts; monotonic. */
  readonly asOf: number;
}

export class RangeVerdicts {
  readonly #byUid = new Map<string, Verdict>();
  /** By UID: from when to when lists have lacked the machine; monotonic. */
  readonly #lacking = new Map<string, { readonly since: number; readonly until: number }>();

  /**
   * Once they were the machine's they stay so: the cloud may change its mind, and the node keeps its pod CIDRs. A look-up that failed says
   * nothing, however often, and neither does a list that lacks the machine.
   */
  hear(uid: string, held: readonly string[], answer: DatedAnswer): void {
    const before = this.#about(uid, held);
    const { asOf } = answer;
    const { kind } = answer.result;
    if (kind === 'missing') this.#lacking.set(uid, { since: this.#lacking.get(uid)?.since ?? asOf, until: asOf });
    else if (kind !== 'failed') this.#lacking.delete(uid);
    if (kind === 'failed' || kind === 'missing' || before?.isTrue) return;
    const cloud = rangesIn(answer);
    const cidrs = held.join();
    if (cloud?.length) this.#byUid.set(uid, { cidrs, isTrue: areIn(cloud, held), without: 0, asOf });
    else if (!before || asOf - before.asOf >= APART_MS) {
      const without = (before?.without ?? 0) + 1;
      this.#byUid.set(uid, { cidrs, isTrue: without < PATIENT_ANSWERS ? before?.isTrue : false, without, asOf });
    }
  }

  /** Whether they are those of the node's machine; `undefined`: the cloud has not said. */
  of(uid: string, held: readonly string[]): boolean | undefined {
    return this.#about(uid, held)?.isTrue;
  }

  /** For so long lists have lacked the machine, up to the last one: failures after it do not count. */
  lackingMs(uid: string): number {
    const { since, until } = this.#lacking.get(uid) ?? { since: 0, until: 0 };
    return until - since;
  }

  forget(uid: string): void {
    this.#byUid.delete(uid);
    this.#lacking.delete(uid);
  }

  #about(uid: string, held: readonly string[]): Verdict | undefined {
    const verdict = this.#byUid.get(uid);
    return verdict?.cidrs === held.join() ? verdict : undefined;
  }
}

function areIn(cloud: readonly string[], held: readonly string[]): boolean {
  const ranges = parseCidrs(cloud);
  return held.map(parseCidr).every((cidr) => cidr && ranges.some((range) => contains(range, cidr)));
}
