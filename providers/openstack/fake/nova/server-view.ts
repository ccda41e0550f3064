/** A server as the API shows it at a microversion (nova/api/openstack/compute/views/servers.py). */
import type { Microversion } from './microversion.ts';
import { STATES, type FakeFlavor, type FakeServer } from './server.ts';

/** One network's name, with its addresses as nova shows them. */
export type ServerAddresses = Readonly<Record<string, readonly ServerAddress[]>>;

export interface ServerAddress {
  readonly version: 4 | 6;
  readonly addr: string;
  readonly 'OS-EXT-IPS:type': 'fixed' | 'floating';
  readonly 'OS-EXT-IPS-MAC:mac_addr': string;
}

const IN_PROGRESS = new Set(['ACTIVE', 'BUILD', 'REBUILD', 'RESIZE', 'VERIFY_RESIZE', 'MIGRATING']);

export interface ServerViewContext {
  /** `http://127.0.0.1:<port>/compute`. */
  readonly root: string;
  readonly version: Microversion;
  readonly addresses: ServerAddresses;
  readonly securityGroups: readonly string[];
}

export function viewServer(server: FakeServer, context: ServerViewContext): Record<string, unknown> {
  const { version, root } = context;
  const [state, task, power] = STATES[server.status];
  return {
    id: server.id,
    name: server.name,
    status: server.status,
    tenant_id: server.projectId,
    user_id: server.userId,
    metadata: server.metadata,
    hostId: hostId(server),
    image: { id: IMAGE_ID, links: [{ rel: 'bookmark', href: `${root}/images/${IMAGE_ID}` }] },
    flavor: viewFlavor(server.flavor, context),
    created: server.created,
    updated: server.updated,
    addresses: context.addresses,
    accessIPv4: server.accessIPv4,
    accessIPv6: server.accessIPv6,
    links: linksOf(server, root),
    'OS-DCF:diskConfig': 'MANUAL',
    ...(IN_PROGRESS.has(server.status) ? { progress: 0 } : {}),
    ...(server.status === 'ERROR'
      ? { fault: { code: 500, created: server.updated, message: 'No valid host was found. ' } }
      : {}),
    'OS-EXT-AZ:availability_zone': server.zone,
    config_drive: '',
    key_name: null,
    'OS-SRV-USG:launched_at': server.created.replace('Z', '.000000'),
    'OS-SRV-USG:terminated_at': null,
    security_groups: context.securityGroups.map((name) => ({ name })),
    'OS-EXT-STS:task_state': task,
    'OS-EXT-STS:vm_state': state,
    'OS-EXT-STS:power_state': power,
    'os-extended-volumes:volumes_attached': [],
    ...(version >= 9 ? { locked: server.lockReason !== undefined } : {}),
    ...(version >= 19 ? { description: server.name } : {}),
    ...(version >= 26 ? { tags: server.tags } : {}),
    ...(version >= 63 ? { trusted_image_certificates: null } : {}),
    ...(version >= 73 ? { locked_reason: server.lockReason ?? null } : {}),
    ...(version >= 90 ? { 'OS-EXT-SRV-ATTR:hostname': hostNameOf(server) } : {}),
  };
}

/** `sanitize_hostname` (nova/utils.py) of the name; where that leaves nothing, nova says another. */
function hostNameOf({ id, name }: FakeServer): string {
  const latin1 = Array.from(name).filter((character) => character <= '\u00FF');
  const dashed = latin1.slice(0, 63).map((character) => (' ._'.includes(character) ? '-' : character));
  const text = dashed.filter((character) => /[-\p{L}\p{N}]/u.test(character)).join('');
  return text.toLowerCase().replace(/^-+/u, '').replace(/-+$/u, '') || `Server-${id}`;
}

/**
 * What there is of a server whose cell does not answer. `GET /servers/{id}` adds what the API's own database knows; lists do
 * not (nova, `_show_from_down_cell`).
 */
export function viewServerOfDownCell(
  server: FakeServer,
  context: Pick<ServerViewContext, 'root' | 'version'>,
  isList: boolean,
): Record<string, unknown> {
  const minimal = {
    id: server.id,
    status: 'UNKNOWN',
    tenant_id: server.projectId,
    created: server.created,
    links: linksOf(server, context.root),
  };
  if (isList) return minimal;
  return {
    ...minimal,
    image: { id: IMAGE_ID, links: [{ rel: 'bookmark', href: `${context.root}/images/${IMAGE_ID}` }] },
    flavor: viewFlavor(server.flavor, context),
    'OS-EXT-AZ:availability_zone': 'UNKNOWN',
    'OS-EXT-STS:power_state': 0,
    user_id: server.userId,
    ...(context.version >= 71 ? { server_groups: [] } : {}),
  };
}

export const linksOf = ({ id }: FakeServer, root: string): unknown => [
  { rel: 'self', href: `${root}/v2.1/servers/${id}` },
  { rel: 'bookmark', href: `${root}/servers/${id}` },
];

/** Embedded from 2.47 on, as it was when the server was made. Before: a reference, which may lead nowhere by now. */
function viewFlavor(flavor: FakeFlavor, { version, root }: Pick<ServerViewContext, 'version' | 'root'>): unknown {
  return version >= 47
    ? {
        vcpus: flavor.vcpus,
        ram: flavor.ram,
        disk: flavor.disk,
        ephemeral: 0,
        swap: 0,
        original_name: flavor.name,
        extra_specs: {},
      }
    : { id: flavor.id, links: [{ rel: 'bookmark', href: `${root}/flavors/${flavor.id}` }] };
}

const IMAGE_ID = '70a599e0-31e7-49b7-b260-868f441e862b';

/** A digest of project and host, 56 characters. Nova's own; nothing is read from it. */
const hostId = ({ zone, projectId }: FakeServer): string =>
  Buffer.from(`${zone}${projectId}`).toString('hex').padEnd(56, '0').slice(0, 56);
