/** From what is wanted to what Octavia is sent. Pure. */
import type { IPFamily } from '@outrigger/cloud-provider';
import { familyIn } from '../desired/address-families.ts';
import type { DesiredHealthMonitor, DesiredListener, DesiredMember, DesiredPool } from '../desired/desired-tree.ts';
import type { ObservedListener, ObservedMonitor } from '../observed-tree.ts';
import { affinityTag } from '../ownership.ts';
import type { Reference } from './references.ts';

type Body = Readonly<Record<string, unknown>>;

/** The header that CPO sets, and looks for. */
export const forwardedFor = 'X-Forwarded-For';

/** What may be changed on a listener that is there: as it is wanted, or as it is. */
export function listenerSettings({
  allowedCidrs,
  connectionLimit,
  timeouts,
  tlsContainerRef,
}: DesiredListener | ObservedListener): Body {
  return {
    connection_limit: connectionLimit,
    ...(allowedCidrs && { allowed_cidrs: allowedCidrs }),
    ...(timeouts && {
      timeout_client_data: timeouts.clientData,
      timeout_member_connect: timeouts.memberConnect,
      timeout_member_data: timeouts.memberData,
      timeout_tcp_inspect: timeouts.tcpInspect,
    }),
    ...(tlsContainerRef && { default_tls_container_ref: tlsContainerRef }),
  };
}

export function listenerBody(wanted: DesiredListener, tags: readonly string[]): Body {
  const { allowedCidrs, ...others } = wanted;
  const settings = listenerSettings(others);
  return {
    name: wanted.name,
    protocol: wanted.protocol,
    protocol_port: wanted.port,
    ...settings,
    ...(allowedCidrs?.length && { allowed_cidrs: allowedCidrs }),
    ...(wanted.insertHeaders.xForwardedFor && { insert_headers: { [forwardedFor]: 'true' } }),
    tags,
  };
}

export function poolBody(wanted: DesiredPool, tags: readonly string[]): Body {
  return {
    name: wanted.name,
    protocol: wanted.protocol,
    lb_algorithm: wanted.lbMethod,
    ...(wanted.sessionPersistence && { session_persistence: wanted.sessionPersistence }),
    tags: poolTags(wanted, tags),
  };
}

export const poolTags = ({ sessionPersistence }: DesiredPool, tags: readonly string[]): readonly string[] =>
  sessionPersistence ? [...tags, affinityTag] : tags;

/** Where a member lies that names no subnet: in the VIP's, if it is of its family. */
export interface MemberSubnet {
  readonly family: IPFamily;
  readonly id: string | Reference | undefined;
}

export function memberBody(wanted: DesiredMember, fallback: MemberSubnet): Body {
  const subnet = wanted.subnetId ?? (familyIn(wanted.address) === fallback.family ? fallback.id : undefined);
  return {
    name: wanted.name,
    address: wanted.address,
    protocol_port: wanted.port,
    ...(wanted.monitorPort !== undefined && { monitor_port: wanted.monitorPort }),
    ...(subnet !== undefined && { subnet_id: subnet }),
  };
}

/** Without the type, which is for ever: as it is wanted, or as it is. */
export function monitorSettings({
  delay,
  http,
  maxRetries,
  maxRetriesDown,
  name,
  timeout,
}: DesiredHealthMonitor | ObservedMonitor): Body {
  return {
    name,
    delay,
    timeout,
    max_retries: maxRetries,
    max_retries_down: maxRetriesDown,
    ...(http && { http_method: http.method, url_path: http.urlPath, expected_codes: http.expectedCodes }),
  };
}

export const monitorBody = (wanted: DesiredHealthMonitor): Body => ({ ...monitorSettings(wanted), type: wanted.type });

/** All listeners with what hangs below them, for the one POST. */
export function populatedListeners(
  listeners: readonly DesiredListener[],
  tags: readonly string[],
  subnet: MemberSubnet,
): readonly Body[] {
  return listeners.map((listener) => ({
    ...listenerBody(listener, tags),
    default_pool: {
      ...poolBody(listener.pool, tags),
      members: listener.pool.members.map((member) => memberBody(member, subnet)),
      ...(listener.pool.monitor && { healthmonitor: monitorBody(listener.pool.monitor) }),
    },
  }));
}
