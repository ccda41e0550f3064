/** Cluster IPs and node ports, given in order, each to one service at a time. */
import type { RuleContext } from './kind-rules.ts';

const FIRST_NODE_PORT = 30_000;
const LAST_NODE_PORT = 32_767;

export function createAllocator(): RuleContext['allocator'] {
  const addresses = new Set<string>();
  const ports = new Set<number>();
  let nextAddress = 10;
  let nextPort = FIRST_NODE_PORT;
  return {
    clusterIp: (family) => {
      for (;;) {
        const n = nextAddress++ % 65_536;
        const address = family === 'IPv4' ? `10.96.${n >> 8}.${n & 255}` : `fd00:10:96::${n.toString(16)}`;
        if (addresses.has(address)) continue;
        addresses.add(address);
        return address;
      }
    },
    nodePort: () => {
      for (let tried = 0; tried <= LAST_NODE_PORT - FIRST_NODE_PORT; tried++) {
        const port = nextPort;
        nextPort = nextPort === LAST_NODE_PORT ? FIRST_NODE_PORT : nextPort + 1;
        if (ports.has(port)) continue;
        ports.add(port);
        return port;
      }
      throw new RangeError(`no node port is left of ${FIRST_NODE_PORT} to ${LAST_NODE_PORT}`);
    },
    claimClusterIp: (address) => !addresses.has(address) && Boolean(addresses.add(address)),
    claimNodePort: (port) => !ports.has(port) && Boolean(ports.add(port)),
    release: (releasedAddresses, releasedPorts) => {
      for (const address of releasedAddresses) addresses.delete(address);
      for (const port of releasedPorts) ports.delete(port);
    },
  };
}
