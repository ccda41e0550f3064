/** Back ends that many Services select alike: the nodes are gone through once for all of these Services, and not once for each. */
import type { BackEnd } from '@outrigger/cloud-provider';

/** So many rules are remembered for one set of back ends. Who may write Services may write as many rules. */
const REMEMBERED = 64;

type Takes = (backEnd: BackEnd) => boolean;

export class SharedSelections {
  /** The host gives the same array until a node changes. */
  readonly #known = new WeakMap<readonly BackEnd[], Map<string, readonly BackEnd[]>>();

  /**
   * Those that the rule takes: the same array for the same rule of the same array, and that array itself where the rule takes all. `rule`: what
   * `takes` depends on, as text. `read` is called where its answer is not known yet.
   */
  select(backEnds: readonly BackEnd[], rule: string, read: () => Takes): readonly BackEnd[] {
    const known = this.#known.get(backEnds) ?? new Map<string, readonly BackEnd[]>();
    this.#known.set(backEnds, known);
    const before = known.get(rule);
    if (before) return before;
    const taken = backEnds.filter(read());
    const selected = taken.length === backEnds.length ? backEnds : taken;
    if (known.size < REMEMBERED) known.set(rule, selected);
    return selected;
  }
}
