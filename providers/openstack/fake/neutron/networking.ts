/** All that neutron keeps. */
import type { Identifiers } from '../identifiers.ts';
import { FloatingIps } from './floating-ips.ts';
import { Networks } from './networks.ts';
import { Ports } from './ports.ts';
import { Quotas } from './quotas.ts';
import { Routers } from './routers.ts';
import { SecurityGroups } from './security-groups.ts';
import { Trunks } from './trunks.ts';

export class Networking {
  readonly quotas: Quotas = new Quotas();
  readonly networks: Networks;
  readonly ports: Ports;
  readonly securityGroups: SecurityGroups;
  readonly routers: Routers;
  readonly floatingIps: FloatingIps;
  readonly trunks: Trunks;

  constructor(ids: Identifiers) {
    const { quotas } = this;
    const networks = new Networks(ids);
    const securityGroups = new SecurityGroups({
      ids,
      quotas,
      isInUse: (group) => this.ports.ports.all().some((port) => port.security_groups.includes(group)),
    });
    const ports = new Ports({
      ids,
      quotas,
      networks,
      defaultGroup: (projectId) => securityGroups.defaultOf(projectId),
      hasGroup: (id) => securityGroups.groups.get(id) !== undefined,
      onRemove: (port) => this.floatingIps.leave(port),
    });
    const routers = new Routers({ ids, networks, ports });
    this.networks = networks;
    this.securityGroups = securityGroups;
    this.ports = ports;
    this.routers = routers;
    this.floatingIps = new FloatingIps({ ids, networks, ports, routers, quotas });
    this.trunks = new Trunks(ids);
  }
}
