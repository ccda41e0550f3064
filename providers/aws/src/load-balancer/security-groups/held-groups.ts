/** Which security groups network interfaces have: of a load balancer that is gone, for minutes. Deletions that wait ask together. */
import type { CallContext, Clock } from '@outrigger/cloud-provider';
import type { AwsClient } from '../../client/aws-client.ts';
import { pages } from '../../client/pages.ts';

/** Between two questions, unless few wait. */
const PAUSE_MS = 5_000;
const FEW = 5;
/** So long one that was free is taken for free: longer than the 30 s after which the host looks again at the latest, so that who waits for it hears of it. */
const FREE_MS = 60_000;
/** Values of a filter. */
const MOST = 200;

export class HeldGroups {
  readonly #client: Pick<AwsClient, 'ec2'>;
  readonly #clock: Clock;
  /** Those that the next question is about: not free, as far as is known. The ones that were asked about last stand last. */
  readonly #waiting = new Set<string>();
  /** When those were asked about that are free; until somebody asks about them. */
  readonly #free = new Map<string, number>();
  /** Of the last question. */
  #asked: ReadonlySet<string> = new Set();
  #answer: Promise<ReadonlySet<string>> = Promise.resolve(this.#asked);
  #askedAt = Number.NEGATIVE_INFINITY;

  constructor({ client, clock }: { readonly client: Pick<AwsClient, 'ec2'>; readonly clock: Clock }) {
    this.#client = client;
    this.#clock = clock;
  }

  /**
   * Where more than a few wait, one that the last question was not about, seconds ago, counts as held: the next one is, whoever asks it. Rejects
   * as the question does.
   */
  async has(id: string, call: CallContext): Promise<boolean> {
    const now = this.#clock.monotonic();
    const freeAt = this.#free.get(id);
    this.#free.delete(id);
    if (freeAt !== undefined && now - freeAt < FREE_MS) return false;
    const isNew = !this.#asked.has(id);
    if (now - this.#askedAt >= PAUSE_MS || (isNew && this.#waiting.size < FEW)) {
      this.#askedAt = now;
      const asked = new Set([id]);
      for (const other of this.#waiting) if (asked.size < MOST) asked.add(other);
      this.#asked = asked;
      this.#answer = this.#ask(asked, call);
    }
    if (!this.#asked.has(id)) {
      this.#waiting.add(id);
      return true;
    }
    const isHeld = (await this.#answer).has(id);
    this.#free.delete(id);
    return isHeld;
  }

  async #ask(asked: ReadonlySet<string>, call: CallContext): Promise<ReadonlySet<string>> {
    const askedAt = this.#askedAt;
    for (const id of asked) this.#waiting.delete(id);
    const Filters = [{ Name: 'group-id', Values: [...asked] }];
    const found = await pages(this.#client.ec2, call, 'DescribeNetworkInterfaces', { Filters, MaxResults: 1_000 });
    const ids = found.flatMap(({ Groups = [] }) => Groups.map(({ GroupId = '' }) => GroupId));
    const held = new Set(ids.filter((id) => asked.has(id)));
    for (const id of asked) {
      if (held.has(id)) this.#waiting.add(id);
      else this.#free.set(id, askedAt);
    }
    return held;
  }
}
