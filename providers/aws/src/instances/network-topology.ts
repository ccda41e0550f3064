/**
 * Labels of the network above an instance. EC2 answers one request a second for them, so no node waits: they are asked for in batches
 * while the manager leads, kept, and given with the next look-up, which a hint brings on.
 */
import { type CallContext, type Clock, type InstanceHint } from '@outrigger/cloud-provider';
import { untilAborted } from '@outrigger/provider-kit';
import type { AwsClient } from '../client/aws-client.ts';
import { awsCodeOf } from '../client/aws-errors.ts';
import type { Instance } from '../client/generated/ec2.ts';
import { pages } from '../client/pages.ts';
import { unknownIn } from './described-instances.ts';

export interface NetworkTopologyOptions {
  readonly client: Pick<AwsClient, 'ec2'>;
  readonly clock: Clock;
  /** Types that are asked for again until EC2 has them. */
  readonly types: () => RegExp;
}

const LABEL = 'topology.k8s.aws/network-node-layer-';
/** Of one request. */
const MOST_IDS = 100;
/** Between two requests: EC2's bucket holds one, and gets one a second. */
const BETWEEN_MS = 1_000;
/** After a request that failed. */
const AFTER_ERROR_MS = 60_000;
/** What EC2 has no topology of, as cloud-provider-aws has it. */
const UNSUPPORTED_MS = 24 * 3_600_000;
/** Of a type that has one: the instance may not be ready for it. */
const NOT_YET_MS = 5 * 60_000;

interface Waiting {
  readonly id: string;
  readonly type: string;
  readonly providerID: string;
}

export class NetworkTopology {
  readonly #options: NetworkTopologyOptions;
  readonly #waiting = new Map<string, Waiting>();
  /** By instance, until its node has them. */
  readonly #labels = new Map<string, Readonly<Record<string, string>>>();
  /** Instances, types and, as `''`, the whole region: until when they are not asked for. */
  readonly #notBefore = new Map<string, number>();
  #wake: (() => void) | undefined;

  constructor(options: NetworkTopologyOptions) {
    this.#options = options;
  }

  /** What is known by now; what is not, is asked for. `labels`: those of the node. */
  labelsOf(
    instance: Instance,
    providerID: string,
    labels: Readonly<Record<string, string>>,
  ): Readonly<Record<string, string>> {
    const { InstanceId: id = '', InstanceType: type = '' } = instance;
    if (Object.hasOwn(labels, `${LABEL}1`)) {
      this.#labels.delete(id);
      return {};
    }
    const known = this.#labels.get(id);
    if (known) return known;
    if (instance.State?.Name !== 'running' || type === '' || this.#isTooEarly('', type, id)) return {};
    this.#waiting.set(id, { id, type, providerID });
    this.#wake?.();
    return {};
  }

  /** Asks while it is iterated. Tells of each instance whose labels have come. */
  async *changes(call: CallContext): AsyncIterable<InstanceHint> {
    const { clock } = this.#options;
    for (;;) {
      await this.#someWait(call.signal);
      const batch = [...this.#waiting.values()].slice(0, MOST_IDS);
      let pause = BETWEEN_MS;
      try {
        yield* await this.#ask(batch, call);
      } catch (error) {
        call.signal.throwIfAborted();
        pause = AFTER_ERROR_MS;
        // The others come first now: one of these may be what fails.
        for (const one of batch) if (this.#waiting.delete(one.id)) this.#waiting.set(one.id, one);
        call.logger.verbose(2, 'EC2 did not say where in the network instances are; it is asked again', { error });
      }
      await clock.sleep(pause, call.signal);
    }
  }

  /** Another region or account. */
  reconfigured(): void {
    this.#labels.clear();
    this.#notBefore.clear();
    this.#waiting.clear();
  }

  async #ask(batch: readonly Waiting[], call: CallContext): Promise<readonly InstanceHint[]> {
    const { client, types } = this.#options;
    const ids = batch.map(({ id }) => id);
    let found: Awaited<ReturnType<typeof topologies>>;
    try {
      found = await topologies(client.ec2, ids, call);
    } catch (error) {
      const code = awsCodeOf(error);
      const unknown = unknownIn(error);
      if (code === 'UnsupportedOperation' || code === 'UnauthorizedOperation' || code === 'InvalidAction') {
        this.#later('', UNSUPPORTED_MS);
        this.#waiting.clear();
        call.logger.info('EC2 does not say where in the network instances are: nodes get no labels of it', { code });
        return [];
      }
      // They went; a look-up that finds them puts them here again.
      for (const id of unknown) this.#waiting.delete(id);
      if (unknown.size > 0) return [];
      throw error;
    }
    const hints: InstanceHint[] = [];
    for (const { id, providerID, type } of batch) {
      this.#waiting.delete(id);
      const nodes = found.get(id);
      if (nodes && nodes.length > 0) {
        this.#labels.set(id, Object.fromEntries(nodes.map((node, n) => [`${LABEL}${n + 1}`, node])));
        hints.push({ providerID });
      } else if (types().test(type)) this.#later(id, NOT_YET_MS);
      else this.#later(type, UNSUPPORTED_MS);
    }
    return hints;
  }

  #later(key: string, delayMs: number): void {
    const now = this.#options.clock.monotonic();
    for (const [one, until] of this.#notBefore) if (until <= now) this.#notBefore.delete(one);
    this.#notBefore.set(key, now + delayMs);
  }

  #isTooEarly(...keys: readonly string[]): boolean {
    const now = this.#options.clock.monotonic();
    return keys.some((key) => (this.#notBefore.get(key) ?? 0) > now);
  }

  async #someWait(signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    if (this.#waiting.size > 0) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#wake = resolve;
    try {
      await untilAborted(promise, signal);
    } finally {
      this.#wake = undefined;
    }
  }
}

async function topologies(
  ec2: AwsClient['ec2'],
  ids: readonly string[],
  call: CallContext,
): Promise<ReadonlyMap<string, readonly string[]>> {
  const found = await pages(ec2, call, 'DescribeInstanceTopology', { InstanceIds: ids });
  return new Map(found.map(({ InstanceId = '', NetworkNodes = [] }) => [InstanceId, NetworkNodes]));
}
