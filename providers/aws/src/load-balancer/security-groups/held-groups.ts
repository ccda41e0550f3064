/** Which security groups network interfaces have: of a load balancer that is gone, for minutes. Deletions that wait ask together. */
import type { CallContext, Clock } from '@outrigger/cloud-provider';
import type { AwsClient } from '../../client/aws-client.ts';
import { pages } from '../../client/pages.ts';

/** An answer is for all who ask meanwhile. */
const FRESH_MS = 5_000;
/** Values of a filter. */
const MOST = 200;

export class HeldGroups {
  readonly #client: Pick<AwsClient, 'ec2'>;
  readonly #clock: Clock;
  #asked: ReadonlySet<string> = new Set();
  /** Of those that were asked about. */
  #held: ReadonlySet<string> = new Set();
  #answer: Promise<ReadonlySet<string>> = Promise.resolve(this.#held);
  #askedAt: number = 0;

  constructor({ client, clock }: { readonly client: Pick<AwsClient, 'ec2'>; readonly clock: Clock }) {
    this.#client = client;
    this.#clock = clock;
  }

  async has(id: string, call: CallContext): Promise<boolean> {
    const now = this.#clock.monotonic();
    if (!this.#asked.has(id) || now - this.#askedAt >= FRESH_MS) {
      this.#askedAt = now;
      this.#asked = new Set([id, ...this.#held].slice(0, MOST));
      this.#answer = this.#ask(this.#asked, call);
    }
    return (await this.#answer).has(id);
  }

  async #ask(asked: ReadonlySet<string>, call: CallContext): Promise<ReadonlySet<string>> {
    const Filters = [{ Name: 'group-id', Values: [...asked] }];
    const found = await pages(this.#client.ec2, call, 'DescribeNetworkInterfaces', { Filters, MaxResults: 1_000 });
    const ids = found.flatMap(({ Groups = [] }) => Groups.map(({ GroupId = '' }) => GroupId));
    this.#held = new Set(ids.filter((id) => asked.has(id)));
    return this.#held;
  }
}
