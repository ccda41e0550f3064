/** Instance types: the names of flavors, as far as they can be label values. */
import type { CallContext } from '@outrigger/cloud-provider';
import { isLabelValue, labelValueOf } from './label-value.ts';
import type { NovaServers } from './nova-servers.ts';
import type { Server } from './server.ts';

export class FlavorTypes {
  readonly #nova: NovaServers;
  /** IDs of flavors whose name is no label value, by all that a server says of its flavor. */
  readonly #ids = new Map<string, Promise<string | undefined>>();

  constructor(nova: NovaServers) {
    this.#nova = nova;
  }

  /**
   * The flavor's name, or its ID where the name is no label value, as kubernetes/cloud-provider-openstack has it
   * (`srvInstanceType`, pkg/openstack/instances.go). The ID is one more request for each such flavor, and remembered.
   */
  async typeOf({ id, flavor }: Server, call: CallContext): Promise<string | undefined> {
    const { original_name: name } = flavor ?? {};
    if (name === undefined || isLabelValue(name)) return name;
    const key = JSON.stringify(flavor);
    let read = this.#ids.get(key);
    if (!read) {
      read = this.#nova.flavorIdOf(id, call);
      this.#ids.set(key, read);
      read.catch(() => this.#ids.delete(key));
    }
    return labelValueOf(await read);
  }
}
