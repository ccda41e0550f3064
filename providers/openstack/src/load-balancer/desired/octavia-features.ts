/** What this cloud's Octavia can do, by the version of its API (`octavia/api/root_controller.py`) and its provider. Data for the goal. */
import { CloudError } from '@outrigger/cloud-provider';
import { lbMethods, type LbMethod } from './desired-tree.ts';

export interface OctaviaFeatures {
  readonly provider: string;
  /** `2.26`. */
  readonly version: string;
  readonly flavors: boolean;
  readonly availabilityZones: boolean;
  /** `allowed_cidrs`. */
  readonly accessLists: boolean;
  readonly timeouts: boolean;
  /** HTTP, TLS and the PROXY protocol: what only a proxy can do. */
  readonly proxies: boolean;
  readonly proxyV2: boolean;
  readonly sctp: boolean;
  readonly sctpMonitors: boolean;
  readonly httpMonitors: boolean;
  readonly httpMonitorsOnUdp: boolean;
  readonly additionalVips: boolean;
  readonly lbMethods: readonly LbMethod[];
}

/** Tags: without them no part could be told from another's. Octavia of Stein (2019). */
const LEAST_VERSION = 5;
/** In order of age; `octavia` is the alias of old, `amphorav2` a name of some releases. */
const AMPHORAE: readonly string[] = ['amphora', 'octavia', 'amphorav2'];

/** `apiVersion`: the highest of `GET /`, `v2.26` or `2.26`. Throws `unsupported` for one before 2.5. */
export function octaviaFeatures(apiVersion: string, provider: string): OctaviaFeatures {
  const minor = Number(/^v?2\.(\d+)$/.exec(apiVersion)?.[1] ?? -1);
  if (minor < LEAST_VERSION) {
    const text = `Octavia's API is of version ${JSON.stringify(apiVersion)}: load balancers need 2.${LEAST_VERSION} or later`;
    throw new CloudError('unsupported', text);
  }
  // OVN balances packets, it is no proxy; `ovn_octavia_provider/driver.py` refuses the rest.
  const isProxy = provider !== 'ovn';
  return {
    provider,
    version: `2.${minor}`,
    flavors: isProxy && minor >= 6,
    availabilityZones: isProxy && minor >= 14,
    accessLists: isProxy && minor >= 12,
    timeouts: isProxy,
    proxies: isProxy,
    proxyV2: isProxy && minor >= 22,
    sctp: minor >= 23,
    sctpMonitors: isProxy,
    httpMonitors: isProxy,
    httpMonitorsOnUdp: isProxy && minor >= 16,
    additionalVips: minor >= 26,
    lbMethods: methodsOf(provider),
  };
}

/** What is no proxy reaches a client's family by members of that family alone. */
export const carriesPackets = (provider: string, protocol: string): boolean =>
  provider === 'ovn' || protocol === 'UDP' || protocol === 'SCTP';

function methodsOf(provider: string): readonly LbMethod[] {
  // The first is what it has always had; `SOURCE_IP` came to it in 2026, and an older one answers 501.
  if (provider === 'ovn') return ['SOURCE_IP_PORT', 'SOURCE_IP'];
  return AMPHORAE.includes(provider) ? lbMethods.filter((one) => one !== 'SOURCE_IP_PORT') : lbMethods;
}
