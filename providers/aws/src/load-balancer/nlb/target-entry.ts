/** Machines that become targets: as many as AWS takes, in few requests. */
import { asError, CloudError, type CallContext } from '@outrigger/cloud-provider';
import type { AwsClient } from '../../client/aws-client.ts';
import { awsCodeOf, namedIn } from '../../client/aws-errors.ts';
import { chunks } from '../../client/pages.ts';
import { listed, type checkServed } from '../left-out.ts';

/** `RegisterTargets` and `DeregisterTargets` take no more. */
export const MOST = 100;
/** Where there is no room for one more, there is none for another of its zone. */
const TOO_MANY = 'TooManyTargets';
/** The second one is about single targets. */
const FULL = [TOO_MANY, 'TooManyRegistrationsForTargetId'];
/** After so many single machines that are refused one after the other, what is refused is divided no more: of each few, one is looked for still. */
const MOST_SINGLE = 8;
const FEW = 25;

export interface TargetEntryOptions {
  readonly client: Pick<AwsClient, 'elbv2'>;
  /** Of the target group. */
  readonly arn: string;
  /** `undefined`: not known. */
  readonly zoneOf: (id: string) => string | undefined;
}

export class TargetEntry {
  readonly #options: TargetEntryOptions;
  readonly #call: CallContext;
  readonly #registered = new Set<string>();
  /** With the quota that AWS names, if it is one. */
  readonly #refused = new Map<string, Error | undefined>();
  readonly #fullZones = new Map<string | undefined, Error>();
  #refusedSingle = 0;

  constructor(options: TargetEntryOptions, call: CallContext) {
    this.#options = options;
    this.#call = call;
  }

  has(id: string): boolean {
    return this.#registered.has(id);
  }

  /** There is no room for these. */
  get full(): readonly string[] {
    return [...this.#refused].filter(([, quota]) => awsCodeOf(quota) === TOO_MANY).map(([id]) => id);
  }

  get refused(): Parameters<typeof checkServed>[3] {
    const ids = [...this.#refused.keys()];
    if (ids.length === 0) return { ids };
    const message = `AWS takes no traffic to ${listed(ids)}: not running, in another VPC, or no valid instance ID; the other nodes are targets`;
    const quota = [...this.#refused.values()].find((one) => one);
    return { ids, error: quota ?? new CloudError('conflict', message, { effect: 'unknown' }) };
  }

  async register(ids: readonly string[]): Promise<void> {
    for (const some of chunks(ids, MOST)) await this.#registerFew(some);
  }

  /** Those for which there was no room, when others have made some. */
  async registerFull(): Promise<void> {
    const ids = this.full;
    this.#fullZones.clear();
    this.#refusedSingle = 0;
    for (const id of ids) this.#refused.delete(id);
    await this.register(ids);
  }

  async #registerFew(ids: readonly string[]): Promise<void> {
    // When any is taken, the others are divided again.
    this.#refusedSingle = Math.min(this.#refusedSingle, MOST_SINGLE - 1);
    await this.#register(ids);
  }

  /** One that AWS does not take fails the request of all: without those that it names it is sent once more, and by halves where it names none. */
  async #register(ids: readonly string[]): Promise<void> {
    const { arn, client, zoneOf } = this.#options;
    let good = ids.filter((id) => {
      const quota = this.#fullZones.size > 0 ? this.#fullZones.get(zoneOf(id)) : undefined;
      if (quota) this.#refused.set(id, quota);
      return !quota;
    });
    while (good.length > 0) {
      try {
        await client.elbv2(this.#call, 'RegisterTargets', {
          TargetGroupArn: arn,
          Targets: good.map((Id) => ({ Id })),
        });
        this.#refusedSingle = 0;
        for (const id of good) this.#registered.add(id);
        return;
      } catch (error) {
        if (isFull(error)) return this.#divide(good, asError(error));
        // The second one is about an ID that is none.
        if (!['InvalidTarget', 'ValidationError'].includes(awsCodeOf(error) ?? '')) throw error;
        const bad = new Set(namedIn(error, /\bi-[0-9a-f]+\b/gu));
        const left = good.filter((id) => !bad.has(id));
        if (left.length === good.length) throw error;
        for (const id of good) if (bad.has(id)) this.#refused.set(id, undefined);
        good = left;
      }
    }
  }

  async #divide(ids: readonly string[], quota: Error): Promise<void> {
    if (ids.length > FEW) {
      for (const few of chunks(ids, FEW)) await this.#registerFew(few);
      return;
    }
    if (ids.length > 1 && this.#refusedSingle < MOST_SINGLE) {
      const half = Math.ceil(ids.length / 2);
      await this.#register(ids.slice(0, half));
      await this.#register(ids.slice(half));
      return;
    }
    for (const id of ids) this.#refused.set(id, quota);
    if (ids.length > 1) return;
    this.#refusedSingle++;
    if (awsCodeOf(quota) === TOO_MANY) this.#fullZones.set(this.#options.zoneOf(ids[0] ?? ''), quota);
  }
}

/** Whether a quota of targets is why AWS has refused it. */
function isFull(error: unknown): boolean {
  return FULL.includes(awsCodeOf(error) ?? '');
}
