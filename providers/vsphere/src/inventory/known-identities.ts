/** Which vCenter is at an address, from its first answer on: another one there is not believed. */
import { CloudError } from '@outrigger/cloud-provider';

/** `about.instanceUuid` by address. */
export class KnownIdentities {
  readonly #byAddress = new Map<string, string>();

  of(address: string): string | undefined {
    return this.#byAddress.get(address);
  }

  /** Throws `configuration` for another one than before. */
  admit(address: string, identity: string): void {
    const known = this.#byAddress.get(address);
    if (known !== undefined && known !== identity) {
      throw new CloudError(
        'configuration',
        `the vCenter at ${address} was ${known} and is now ${identity}: correct its address, or restart the program if the cluster has moved`,
      );
    }
    this.#byAddress.set(address, identity);
  }
}
