/**
 * What Octavia refuses of a tree, written a second time from its sources (`octavia/api/v2/controllers`, `octavia/common/constants.py`,
 * `amphora_driver/v2/driver.py`, `ovn_octavia_provider/driver.py`): the judge of what we ask for. The rules for amphorae were tried on
 * the lab's Octavia, each with something just inside and just outside [Zed]. Not among them: how seldom a UDP monitor asks at least,
 * which is a setting of the cloud's (3 s by default).
 */
import { familyOf, parseCidr } from '@outrigger/cloud-provider';
import type { DesiredListener, DesiredTree } from './desired-tree.ts';

const POOLS_OF: Readonly<Record<string, readonly string[]>> = {
  TCP: ['TCP', 'HTTP', 'PROXY', 'PROXYV2'],
  HTTP: ['HTTP', 'PROXY', 'PROXYV2'],
  TERMINATED_HTTPS: ['HTTP', 'PROXY', 'PROXYV2'],
  UDP: ['UDP'],
  SCTP: ['SCTP'],
};
const LAYER_4: Readonly<Record<string, string>> = { HTTP: 'TCP', TERMINATED_HTTPS: 'TCP' };
const MOST_MILLISECONDS = 24 * 86_400_000;

/** In words; empty: it would be accepted. */
export function octaviaRefuses(tree: DesiredTree, version: string): readonly string[] {
  const { loadBalancer, listeners } = tree;
  const { provider, vip, additionalVips, names } = loadBalancer;
  const minor = Number(version.split('.')[1]);
  const wrong: string[] = [];
  const must = (holds: boolean, text: string): void => void (holds || wrong.push(text));

  const families = [vip.family, ...additionalVips.map(({ family }) => family)];
  must(names.loadBalancer.length <= 255 && loadBalancer.description.length <= 255, 'texts');
  must(new Set(families).size === families.length, 'two VIPs of one subnet');
  must(additionalVips.length === 0 || minor >= 26, 'additional VIPs before 2.26');
  must(
    additionalVips.length === 0 || listeners.every(({ allowedCidrs = [] }) => allowedCidrs.length === 0),
    'ACL and two VIPs',
  );
  must(vip.address === undefined || `IPv${familyOf(vip.address)}` === vip.family, 'address of the other family');
  must(loadBalancer.flavorId === undefined || (minor >= 6 && provider !== 'ovn'), 'flavor');
  must(loadBalancer.availabilityZone === undefined || (minor >= 14 && provider !== 'ovn'), 'zone');

  const ports = listeners.map(({ port, protocol }) => `${LAYER_4[protocol] ?? protocol} ${port}`);
  must(new Set(ports).size === ports.length, 'port clash');
  for (const listener of listeners) wrong.push(...refusalsOf(listener, { provider, minor, families }));

  const { floatingIP, securityGroup } = tree;
  must(floatingIP.kind === 'none' || families.includes('IPv4'), 'floating IP without an IPv4 VIP');
  must(floatingIP.kind !== 'address' || familyOf(floatingIP.address) === 4, 'floating IPv6');
  const rules = securityGroup?.rules.map((rule) => JSON.stringify(rule)) ?? [];
  must(new Set(rules).size === rules.length, 'the same rule twice');
  for (const { cidr, family } of securityGroup?.rules ?? []) {
    must(cidr === undefined || family === `IPv${familyOf(cidr)}`, 'rule of two families');
  }
  return wrong;
}

interface Around {
  readonly provider: string;
  readonly minor: number;
  readonly families: readonly string[];
}

function refusalsOf(listener: DesiredListener, { provider, minor, families }: Around): readonly string[] {
  const { protocol, pool, timeouts, allowedCidrs } = listener;
  const { members, monitor } = pool;
  const wrong: string[] = [];
  const must = (holds: boolean, text: string): void => void (holds || wrong.push(`${listener.name}: ${text}`));
  const isLvs = protocol === 'UDP' || protocol === 'SCTP';
  const isOvn = provider === 'ovn';

  must(POOLS_OF[protocol]?.includes(pool.protocol) === true, `pool ${pool.protocol} of a listener ${protocol}`);
  must((protocol === 'TERMINATED_HTTPS') === (listener.tlsContainerRef !== undefined), 'certificate');
  must(!listener.insertHeaders.xForwardedFor || protocol === 'HTTP' || protocol === 'TERMINATED_HTTPS', 'header');
  must(listener.connectionLimit >= -1 && listener.connectionLimit < 2 ** 31, 'connection limit');
  must(
    Object.values(timeouts ?? {}).every((ms) => ms >= 0 && ms <= MOST_MILLISECONDS),
    'timeouts',
  );
  must(allowedCidrs === undefined || minor >= 12, 'ACL before 2.12');
  for (const cidr of allowedCidrs ?? []) {
    must(parseCidr(cidr)?.text === cidr && families.includes(`IPv${familyOf(cidr)}`), `ACL ${cidr}`);
  }
  must(pool.protocol !== 'PROXYV2' || minor >= 22, 'PROXYV2 before 2.22');
  must(protocol !== 'SCTP' || minor >= 23, 'SCTP before 2.23');
  if (isOvn) {
    must(['TCP', 'UDP', 'SCTP'].includes(protocol) && pool.protocol === protocol, 'OVN: protocol');
    must(pool.lbMethod === 'SOURCE_IP_PORT' || pool.lbMethod === 'SOURCE_IP', 'OVN: method');
    must(allowedCidrs === undefined && timeouts === undefined, 'OVN: ACL, timeouts');
    must(monitor === undefined || monitor.type === 'TCP' || monitor.type === 'UDP-CONNECT', 'OVN: monitor');
    must(
      members.every(({ monitorPort }) => monitorPort === undefined),
      'OVN: monitor port',
    );
  } else {
    must(pool.lbMethod !== 'SOURCE_IP_PORT' || !['amphora', 'octavia'].includes(provider), 'amphora: method');
  }
  const keys = members.map(({ address, port }) => `${address} ${port}`);
  must(new Set(keys).size === keys.length, 'one member twice');
  must(
    members.every(({ port }) => port >= 1 && port <= 65_535),
    'member port',
  );
  // `_validate_members`, `_ip_version_differs`.
  must(
    !(isLvs || isOvn) || members.every(({ address }) => families.includes(`IPv${familyOf(address)}`)),
    'mixed families',
  );
  if (monitor) {
    const { type, maxRetries, maxRetriesDown, delay, timeout, http } = monitor;
    must(isLvs || type === 'TCP' || type === 'HTTP', `monitor ${type}`);
    must(protocol !== 'UDP' || minor >= 16 || type === 'UDP-CONNECT', 'HTTP monitor of UDP before 2.16');
    must(
      [maxRetries, maxRetriesDown].every((count) => count >= 1 && count <= 10),
      'retries',
    );
    must(delay >= 0 && timeout >= 0, 'delay');
    must((type === 'HTTP') === (http !== undefined), 'HTTP settings');
  }
  return wrong;
}
