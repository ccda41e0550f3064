/** Which targets are registered: AWS lists them group by group, so what this process has read or written is remembered for a while. */
import { isCloudError, type CallContext, type Clock } from '@outrigger/cloud-provider';
import type { AwsClient } from '../../client/aws-client.ts';
import type { TargetHealthDescription } from '../../client/generated/elbv2.ts';
import { isDueAgain } from '../observe/due-again.ts';

/** AWS takes out machines that are terminated, and people may take out others. */
const KNOWN_MS = 600_000;

interface Known {
  readonly ids: readonly string[];
  readonly at: number;
}

export class TargetMemory {
  readonly #client: Pick<AwsClient, 'elbv2'>;
  readonly #clock: Clock;
  readonly #known = new Map<string, Known>();

  constructor(client: Pick<AwsClient, 'elbv2'>, clock: Clock) {
    this.#client = client;
    this.#clock = clock;
  }

  /** IDs, sorted; those that drain are none any more. */
  async of(arn: string, call: CallContext): Promise<readonly string[]> {
    const known = this.#known.get(arn);
    const now = this.#clock.monotonic();
    if (known && !isDueAgain(arn, known.at, now, KNOWN_MS)) return known.ids;
    const described = await this.#describe(arn, call);
    if (!described) return [];
    const ids = described.filter((one) => !isDraining(one)).map(({ Target }) => Target?.Id ?? '');
    return this.#keep(arn, ids, now);
  }

  /** Whether connections of targets that have left are going on still: asked anew each time. */
  async isDraining(arn: string, call: CallContext): Promise<boolean> {
    const described = await this.#describe(arn, call);
    return described?.some(isDraining) === true;
  }

  /** Of a group that was just made, or as a change has left it. It is believed as long as what was read last, if anything was. */
  changed(arn: string, ids: readonly string[]): void {
    this.#keep(arn, ids, this.#known.get(arn)?.at ?? this.#clock.monotonic());
  }

  forget(arn: string): void {
    this.#known.delete(arn);
  }

  /** `undefined`: AWS does not know the group, which was made a moment ago or has just gone. */
  async #describe(TargetGroupArn: string, call: CallContext): Promise<readonly TargetHealthDescription[] | undefined> {
    try {
      const input = { TargetGroupArn };
      return (await this.#client.elbv2(call, 'DescribeTargetHealth', input)).TargetHealthDescriptions ?? [];
    } catch (error) {
      if (isCloudError(error, 'not-found')) return undefined;
      throw error;
    }
  }

  #keep(arn: string, ids: readonly string[], at: number): readonly string[] {
    const sorted = [...new Set(ids)].toSorted();
    this.#known.set(arn, { ids: sorted, at });
    return sorted;
  }
}

const isDraining = ({ TargetHealth }: TargetHealthDescription): boolean => TargetHealth?.State === 'draining';
