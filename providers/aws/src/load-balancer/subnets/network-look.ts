/** The network as it was a short while ago: all Services of a minute share one reading of it. */
import { isDeepStrictEqual } from 'node:util';
import type { CallContext, Clock } from '@outrigger/cloud-provider';
import type { AwsClient } from '../../client/aws-client.ts';
import type { ClusterFacts } from '../../cluster/own-cluster.ts';
import type { NetworkFacts } from './network-facts.ts';
import { readNetwork } from './read-network.ts';

const FRESH_MS = 60_000;

export interface NetworkLookOptions {
  readonly client: Pick<AwsClient, 'ec2'>;
  readonly clock: Clock;
  /** `undefined`: not found out yet. Another one after a reload of the cloud config. */
  readonly own: { readonly known: ClusterFacts | undefined };
}

export class NetworkLook {
  readonly #options: NetworkLookOptions;
  /** What is read, and what was. */
  #cluster: ClusterFacts | undefined;
  #facts: NetworkFacts | undefined;
  #readAt = 0;
  #reading: Promise<void> | undefined;

  constructor(options: NetworkLookOptions) {
    this.#options = options;
  }

  /** As last read of the cluster's VPC; `undefined` before that. */
  get facts(): NetworkFacts | undefined {
    return isDeepStrictEqual(this.#cluster, this.#options.own.known) ? this.#facts : undefined;
  }

  /** Reads where that is a minute ago. Those who ask meanwhile share one reading. Rejects only where nothing of this VPC has been read ever. */
  async refresh(call: CallContext): Promise<void> {
    const { clock, own } = this.#options;
    const { known } = own;
    if (!isDeepStrictEqual(this.#cluster, known)) {
      this.#cluster = known;
      this.#facts = undefined;
      this.#reading = undefined;
    }
    const cluster = this.#cluster;
    if (!cluster || (this.#facts && clock.monotonic() - this.#readAt < FRESH_MS)) return;
    const reading = (this.#reading ??= this.#read(cluster, call));
    try {
      await reading;
    } catch (error) {
      if (!this.#facts) throw error;
      call.logger.warn('The subnets could not be read, so those of before count', { error });
    } finally {
      if (this.#reading === reading) this.#reading = undefined;
    }
  }

  async #read(cluster: ClusterFacts, call: CallContext): Promise<void> {
    const { client, clock } = this.#options;
    const at = clock.monotonic();
    const facts = await readNetwork(client, cluster, call);
    if (this.#cluster !== cluster) return;
    this.#facts = facts;
    this.#readAt = at;
  }
}
