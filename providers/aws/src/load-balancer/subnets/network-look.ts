/** The network as it was a short while ago: all Services of a minute share one reading of it. */
import type { CallContext, Clock } from '@outrigger/cloud-provider';
import type { AwsClient } from '../../client/aws-client.ts';
import type { NetworkFacts } from './network-facts.ts';
import { readNetwork, type NetworkPlace } from './read-network.ts';

const FRESH_MS = 60_000;

export interface NetworkLookOptions {
  readonly client: Pick<AwsClient, 'ec2'>;
  readonly clock: Clock;
  /** `undefined`: not found out yet. */
  readonly place: () => NetworkPlace | undefined;
}

export class NetworkLook {
  readonly #options: NetworkLookOptions;
  #facts: NetworkFacts | undefined;
  #readAt = 0;
  #reading: Promise<void> | undefined;

  constructor(options: NetworkLookOptions) {
    this.#options = options;
  }

  /** As last read; `undefined` before that. */
  get facts(): NetworkFacts | undefined {
    return this.#facts;
  }

  /** Reads where that is a minute ago. Those who ask meanwhile share one reading. Rejects only where nothing has been read ever. */
  async refresh(call: CallContext): Promise<void> {
    const { clock } = this.#options;
    if (this.#facts && clock.monotonic() - this.#readAt < FRESH_MS) return;
    this.#reading ??= this.#read(call).finally(() => {
      this.#reading = undefined;
    });
    try {
      await this.#reading;
    } catch (error) {
      if (!this.#facts) throw error;
      call.logger.warn('The subnets could not be read, so those of before count', { error });
    }
  }

  async #read(call: CallContext): Promise<void> {
    const { client, clock, place } = this.#options;
    const where = place();
    if (!where) return;
    const at = clock.monotonic();
    this.#facts = await readNetwork(client, where, call);
    this.#readAt = at;
  }
}
