/** What the cloud has said of pod CIDRs that nodes have: a kubelet chooses those with which it registers. */
import { contains, parseCidr } from '@outrigger/cloud-provider';

interface Verdict {
  readonly cidrs: string;
  readonly isTrue: boolean;
}

export class RangeVerdicts {
  readonly #byUid = new Map<string, Verdict>();

  /** Once they were the machine's they stay so: the cloud may change its mind, and the node keeps its pod CIDRs. */
  hear(uid: string, held: readonly string[], cloud: readonly string[]): void {
    if (this.of(uid, held)) return;
    const ranges = cloud.map(parseCidr).filter((cidr) => cidr !== undefined);
    const isTrue = held.map(parseCidr).every((cidr) => cidr && ranges.some((range) => contains(range, cidr)));
    this.#byUid.set(uid, { cidrs: held.join(), isTrue });
  }

  /** Whether they are those of the node's machine; `undefined`: the cloud has not been heard. */
  of(uid: string, held: readonly string[]): boolean | undefined {
    const verdict = this.#byUid.get(uid);
    return verdict?.cidrs === held.join() ? verdict.isTrue : undefined;
  }

  forget(uid: string): void {
    this.#byUid.delete(uid);
  }
}
