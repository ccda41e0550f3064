/** The IDs of zones, which are the same in all accounts, by their names, which are not. */
import type { CallContext } from '@outrigger/cloud-provider';
import type { AwsClient } from '../client/aws-client.ts';
import type { Instance } from '../client/generated/ec2.ts';
import { pages } from '../client/pages.ts';

/** EC2 says an instance's with the instance, but not everywhere: then the zones are asked for once. */
export class ZoneIds {
  readonly #ec2: AwsClient['ec2'];
  #byName: ReadonlyMap<string, string> | undefined;

  constructor(ec2: AwsClient['ec2']) {
    this.#ec2 = ec2;
  }

  /** Before `of`. No node waits for the label: what fails is tried at the next look-up. */
  async learn(instances: readonly Instance[], call: CallContext): Promise<void> {
    if (this.#byName || instances.every(({ Placement }) => Placement?.AvailabilityZoneId !== undefined)) return;
    try {
      const zones = await pages(this.#ec2, call, 'DescribeAvailabilityZones', {});
      this.#byName = new Map(zones.map(({ ZoneId = '', ZoneName = '' }) => [ZoneName, ZoneId]));
    } catch (error) {
      call.signal.throwIfAborted();
      call.logger.verbose(2, 'EC2 did not say the IDs of zones; it is asked again', { error });
    }
  }

  of(instance: Instance): string | undefined {
    const { AvailabilityZone = '', AvailabilityZoneId } = instance.Placement ?? {};
    return AvailabilityZoneId ?? (this.#byName?.get(AvailabilityZone) || undefined);
  }

  reconfigured(): void {
    this.#byName = undefined;
  }
}
