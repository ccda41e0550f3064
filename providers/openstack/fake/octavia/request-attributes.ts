/** Which attributes a request may name, and which values they may have (octavia/api/v2/types). */
import { bodyOf, type FakeRequest } from '../fake-http.ts';
import { parseAddress, parseRange } from '../ip-range.ts';
import { octaviaRefusal } from './octavia-error.ts';

export type Attributes = Readonly<Record<string, unknown>>;

type Check = (value: unknown) => string | undefined;

const anything: Check = () => undefined;
const text =
  (most: number): Check =>
  (value) =>
    typeof value === 'string' && value.length <= most
      ? undefined
      : `Value should have a maximum character requirement of ${most}`;
const oneOf =
  (...allowed: readonly string[]): Check =>
  (value) =>
    allowed.includes(String(value)) ? undefined : `Value should be one of: ${allowed.join(', ')}`;
const between =
  (least: number, most: number): Check =>
  (value) => {
    if (typeof value !== 'number' || !Number.isInteger(value)) return 'Value should be of type integer';
    if (value > most) return `Value should be lower or equal to ${most}`;
    return value < least ? `Value should be greater or equal to ${least}` : undefined;
  };
const address: Check = (value) => (parseAddress(String(value)) ? undefined : 'Value should be IPv4 or IPv6 format');
const cidrs: Check = (value) =>
  Array.isArray(value) && value.every((each) => parseRange(String(each)))
    ? undefined
    : 'Value should be IPv4 or IPv6 CIDR format';
const tags: Check = (value) =>
  Array.isArray(value) && value.every((each) => typeof each === 'string' && each.length <= 255)
    ? undefined
    : 'Value should have a maximum character requirement of 255';

type Table = Readonly<Record<string, Check>>;

const NAMED: Table = { name: text(255), admin_state_up: anything, tags };
const DESCRIBED: Table = { ...NAMED, description: text(255) };
const PORT = between(1, 65_535);
const TIMEOUT = between(0, 365 * 24 * 3_600_000);
const LISTENER_PUT: Table = {
  ...DESCRIBED,
  connection_limit: between(-1, 2 ** 31),
  default_tls_container_ref: text(255),
  sni_container_refs: anything,
  default_pool_id: anything,
  insert_headers: anything,
  timeout_client_data: TIMEOUT,
  timeout_member_connect: TIMEOUT,
  timeout_member_data: TIMEOUT,
  timeout_tcp_inspect: TIMEOUT,
  client_ca_tls_container_ref: anything,
  client_authentication: anything,
  client_crl_container_ref: anything,
  allowed_cidrs: cidrs,
  tls_ciphers: anything,
  tls_versions: anything,
  alpn_protocols: anything,
};
const LISTENER_CHILD: Table = {
  ...LISTENER_PUT,
  protocol: oneOf('PROMETHEUS', 'UDP', 'HTTP', 'SCTP', 'TERMINATED_HTTPS', 'TCP', 'HTTPS'),
  protocol_port: PORT,
  default_pool: anything,
  l7policies: anything,
};
const POOL_PUT: Table = {
  ...DESCRIBED,
  lb_algorithm: oneOf('ROUND_ROBIN', 'LEAST_CONNECTIONS', 'SOURCE_IP', 'SOURCE_IP_PORT'),
  session_persistence: anything,
  tls_container_ref: anything,
  tls_enabled: anything,
};
const POOL_CHILD: Table = {
  ...POOL_PUT,
  protocol: oneOf('TCP', 'UDP', 'HTTP', 'HTTPS', 'PROXY', 'PROXYV2', 'SCTP'),
  healthmonitor: anything,
  members: anything,
};
const MEMBER_PUT: Table = {
  ...NAMED,
  weight: between(0, 256),
  backup: anything,
  monitor_address: address,
  monitor_port: PORT,
};
const MEMBER: Table = { ...MEMBER_PUT, address, protocol_port: PORT, subnet_id: anything, project_id: anything };
const MONITOR_PUT: Table = {
  ...NAMED,
  delay: between(0, 2 ** 31),
  timeout: between(0, 2 ** 31),
  max_retries: between(1, 10),
  max_retries_down: between(1, 10),
  http_method: oneOf('GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'TRACE', 'OPTIONS', 'CONNECT', 'PATCH'),
  url_path: text(255),
  expected_codes: text(64),
  http_version: anything,
  domain_name: anything,
};
const MONITOR_CHILD: Table = {
  ...MONITOR_PUT,
  type: oneOf('HTTP', 'HTTPS', 'PING', 'TCP', 'TLS-HELLO', 'UDP-CONNECT', 'SCTP'),
};
const LOAD_BALANCER_PUT: Table = { ...DESCRIBED, vip_qos_policy_id: anything };

/** The noun, and where it stands: in a POST or PUT of its own, or below another. */
export type AttributeTable =
  | 'loadbalancer POST'
  | 'loadbalancer PUT'
  | 'listener POST'
  | 'listener PUT'
  | 'listener child'
  | 'pool POST'
  | 'pool PUT'
  | 'pool child'
  | 'member POST'
  | 'member PUT'
  | 'healthmonitor POST'
  | 'healthmonitor PUT'
  | 'healthmonitor child';

const TABLES: Readonly<Record<AttributeTable, Table>> = {
  'loadbalancer POST': {
    ...LOAD_BALANCER_PUT,
    vip_address: address,
    vip_port_id: anything,
    vip_subnet_id: anything,
    vip_network_id: anything,
    additional_vips: anything,
    project_id: anything,
    listeners: anything,
    pools: anything,
    provider: text(64),
    flavor_id: anything,
    availability_zone: text(255),
  },
  'loadbalancer PUT': LOAD_BALANCER_PUT,
  'listener POST': { ...LISTENER_CHILD, loadbalancer_id: anything, project_id: anything },
  'listener PUT': LISTENER_PUT,
  'listener child': LISTENER_CHILD,
  'pool POST': { ...POOL_CHILD, listener_id: anything, loadbalancer_id: anything, project_id: anything },
  'pool PUT': POOL_PUT,
  'pool child': POOL_CHILD,
  'member POST': MEMBER,
  'member PUT': MEMBER_PUT,
  'healthmonitor POST': { ...MONITOR_CHILD, pool_id: anything, project_id: anything },
  'healthmonitor PUT': MONITOR_PUT,
  'healthmonitor child': MONITOR_CHILD,
};

/** Throws 400 for an attribute that is not there, and for a value that it cannot have. `null` is the default again. */
export function checkAttributes(table: AttributeTable, given: Attributes): Attributes {
  const checks = TABLES[table];
  const [noun = ''] = table.split(' ');
  for (const [name, value] of Object.entries(given)) {
    const check = checks[name];
    if (!check) {
      const argument = noun === 'loadbalancer' ? 'load_balancer' : `${noun}_`;
      throw octaviaRefusal(400, `Unknown attribute for argument ${argument}.${noun}: ${name}`);
    }
    const wrong = value === null ? undefined : check(value);
    if (wrong !== undefined) {
      throw octaviaRefusal(400, `Invalid input for field/attribute ${name}. Value: '${String(value)}'. ${wrong}`);
    }
  }
  return given;
}

/** The object below `noun` in the body, checked. */
export function attributesOf(request: FakeRequest, table: AttributeTable): Attributes {
  const [noun = ''] = table.split(' ');
  const given = bodyOf(request, noun);
  if (!given)
    throw octaviaRefusal(400, `Invalid input for field/attribute ${noun}. Value: 'None'. Mandatory field missing.`);
  return checkAttributes(table, given);
}

/** `given` without what is `null` or not there: defaults fill it up. */
export const present = (given: Attributes): Record<string, unknown> =>
  Object.fromEntries(Object.entries(given).filter(([, value]) => value != null));
