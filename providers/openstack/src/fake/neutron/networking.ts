/** All that neutron keeps. */
import type { Identifiers } from '../identifiers.ts';
import { Networks } from './networks.ts';
import { Ports } from './ports.ts';

export class Networking {
  readonly networks: Networks;
  readonly ports: Ports;

  constructor(ids: Identifiers) {
    this.networks = new Networks(ids);
    this.ports = new Ports({
      ids,
      networks: this.networks,
      defaultGroup: () => '',
      hasGroup: () => true,
      onRemove: () => {},
    });
  }
}
