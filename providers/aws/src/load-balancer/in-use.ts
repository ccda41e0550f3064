/** Deletions that AWS refuses while something is in use. What goes with the Service lets go within minutes; of anything else people have to hear. */
import { CloudError, type Clock } from '@outrigger/cloud-provider';
import type { Begun } from '@outrigger/provider-kit';

/** While the network interfaces of a load balancer go, which hold its security groups: minutes. */
const GROUP_MS = 20_000;
/** A target group, when its listener has gone: seconds. */
const TARGET_GROUP_MS = 5_000;
/** As long as cloud-provider-aws waits for security groups. What was not tried for so long begins anew. */
const MOST_MS = 600_000;

interface Wait {
  readonly since: number;
  /** When it was tried last. */
  readonly at: number;
}

export class InUse {
  readonly #clock: Clock;
  readonly #waits = new Map<string, Wait>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** `refusal`: of AWS. Throws `conflict` with it after ten minutes. */
  targetGroup(id: string, refusal: Error): Begun {
    return this.#wait(id, TARGET_GROUP_MS, refusal.message);
  }

  /** The same. Default: network interfaces have it. */
  securityGroup(id: string, refusal?: Error): Begun {
    const asked = `aws ec2 describe-network-interfaces --filters Name=group-id,Values=${id}`;
    const why = refusal?.message ?? `remove it from what has it, as \`${asked}\` shows`;
    return this.#wait(id, GROUP_MS, `security group ${id} is in use: ${why}`);
  }

  /** It has gone, or others use it again: who waits for it next waits from then on. */
  done(id: string): void {
    this.#waits.delete(id);
  }

  #wait(id: string, pollAfterMs: number, why: string): Begun {
    const now = this.#clock.monotonic();
    for (const [other, { at }] of this.#waits) if (now - at >= MOST_MS) this.#waits.delete(other);
    const since = this.#waits.get(id)?.since ?? now;
    this.#waits.set(id, { since, at: now });
    if (now - since < MOST_MS) return { handle: `${id}: still in use`, pollAfterMs };
    throw new CloudError('conflict', `not deleted within ${MOST_MS / 60_000} minutes: ${why}`, { effect: 'none' });
  }
}
