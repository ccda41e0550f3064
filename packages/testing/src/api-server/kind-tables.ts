/** Columns and rows, kind by kind, as the real server prints them. */
import { isJsonObject, listAt, stringAt, valueAt, type NamedObject } from './api-object.ts';
import { ageOf } from './human-duration.ts';

export interface TableSpec {
  /** Names; those with `+` in front are shown with `-o wide` only. */
  readonly columns: readonly string[];
  /** One cell a column. */
  readonly row: (object: NamedObject, now: number) => unknown[];
}

const NONE = '<none>';
const ROLE_PREFIX = 'node-role.kubernetes.io/';
const ROLE_LABEL = 'kubernetes.io/role';

const nameOf = (object: NamedObject): string => object.metadata.name ?? '';
const age = (object: NamedObject, now: number): string => ageOf(object.metadata.creationTimestamp, now);
const orNone = (items: readonly unknown[], separator = ','): string => items.join(separator) || NONE;
const size = (value: unknown): number => (isJsonObject(value) ? Object.keys(value).length : 0);

function nodeStatus(node: NamedObject): string {
  const ready = listAt(node, 'status', 'conditions').find((condition) => stringAt(condition, 'type') === 'Ready');
  const status = ready === undefined ? 'Unknown' : stringAt(ready, 'status') === 'True' ? 'Ready' : 'NotReady';
  return valueAt(node, 'spec', 'unschedulable') === true ? `${status},SchedulingDisabled` : status;
}

function nodeRoles(node: NamedObject): string {
  const roles = new Set<string>();
  for (const [key, value] of Object.entries(node.metadata.labels ?? {})) {
    if (key.startsWith(ROLE_PREFIX) && key.length > ROLE_PREFIX.length) roles.add(key.slice(ROLE_PREFIX.length));
    else if (key === ROLE_LABEL && value !== '') roles.add(value);
  }
  return orNone([...roles].sort());
}

function nodeAddress(node: NamedObject, type: string): string {
  const found = listAt(node, 'status', 'addresses').find((address) => stringAt(address, 'type') === type);
  return stringAt(found, 'address') || NONE;
}

function serviceExternal(service: NamedObject): string {
  const own = listAt(service, 'spec', 'externalIPs');
  switch (stringAt(service, 'spec', 'type')) {
    case 'LoadBalancer': {
      const ingress = listAt(service, 'status', 'loadBalancer', 'ingress')
        .map((point) => stringAt(point, 'ip') || stringAt(point, 'hostname'))
        .filter((address) => address !== '');
      return [...ingress, ...own].join(',') || '<pending>';
    }
    case 'ExternalName':
      return stringAt(service, 'spec', 'externalName');
    default:
      return orNone(own);
  }
}

function servicePorts(service: NamedObject): string {
  const ports = listAt(service, 'spec', 'ports').map((port) => {
    const nodePort = valueAt(port, 'nodePort');
    const outside = typeof nodePort === 'number' && nodePort > 0 ? `:${nodePort}` : '';
    return `${String(valueAt(port, 'port'))}${outside}/${stringAt(port, 'protocol')}`;
  });
  return orNone(ports);
}

function eventRow(event: NamedObject, now: number): unknown[] {
  const first = stringAt(event, 'firstTimestamp') || stringAt(event, 'eventTime');
  const seriesCount = valueAt(event, 'series', 'count');
  const last = stringAt(event, 'series', 'lastObservedTime') || stringAt(event, 'lastTimestamp') || first;
  const count = typeof seriesCount === 'number' ? seriesCount : (valueAt(event, 'count') ?? 1);
  const firstSeen = ageOf(first, now);
  const lastSeen = ageOf(last, now);
  const component = stringAt(event, 'source', 'component') || stringAt(event, 'reportingComponent');
  const host = stringAt(event, 'source', 'host') || stringAt(event, 'reportingInstance');
  return [
    typeof count === 'number' && count > 1 ? `${lastSeen} (x${count} over ${firstSeen})` : lastSeen,
    stringAt(event, 'type'),
    stringAt(event, 'reason'),
    `${stringAt(event, 'involvedObject', 'kind').toLowerCase()}/${stringAt(event, 'involvedObject', 'name')}`,
    stringAt(event, 'involvedObject', 'fieldPath'),
    [component, host].filter((part) => part !== '').join(', '),
    stringAt(event, 'message').trim(),
    firstSeen,
    count,
    nameOf(event),
  ];
}

const ACCESS_MODES: Readonly<Record<string, string>> = {
  ReadWriteOnce: 'RWO',
  ReadOnlyMany: 'ROX',
  ReadWriteMany: 'RWX',
  ReadWriteOncePod: 'RWOP',
};

function podRow(pod: NamedObject, now: number): unknown[] {
  const statuses = listAt(pod, 'status', 'containerStatuses');
  const ready = statuses.filter((status) => valueAt(status, 'ready') === true).length;
  const restarts = statuses.reduce<number>((sum, status) => sum + Number(valueAt(status, 'restartCount') ?? 0), 0);
  return [
    nameOf(pod),
    `${ready}/${listAt(pod, 'spec', 'containers').length}`,
    pod.metadata.deletionTimestamp === undefined ? stringAt(pod, 'status', 'phase') : 'Terminating',
    String(restarts),
    age(pod, now),
    stringAt(pod, 'status', 'podIP') || NONE,
    stringAt(pod, 'spec', 'nodeName') || NONE,
    stringAt(pod, 'status', 'nominatedNodeName') || NONE,
    NONE,
  ];
}

/** By where the kind is stored. A kind that is not here has its name and age. */
export const KIND_TABLES: Readonly<Record<string, TableSpec>> = {
  'nodes.': {
    columns: [
      'Name',
      'Status',
      'Roles',
      'Age',
      'Version',
      '+Internal-IP',
      '+External-IP',
      '+OS-Image',
      '+Kernel-Version',
      '+Container-Runtime',
    ],
    row: (node, now) => {
      const info = (field: string): string => stringAt(node, 'status', 'nodeInfo', field) || '<unknown>';
      return [
        nameOf(node),
        nodeStatus(node),
        nodeRoles(node),
        age(node, now),
        stringAt(node, 'status', 'nodeInfo', 'kubeletVersion'),
        nodeAddress(node, 'InternalIP'),
        nodeAddress(node, 'ExternalIP'),
        info('osImage'),
        info('kernelVersion'),
        info('containerRuntimeVersion'),
      ];
    },
  },
  'services.': {
    columns: ['Name', 'Type', 'Cluster-IP', 'External-IP', 'Port(s)', 'Age', '+Selector'],
    row: (service, now) => {
      const selector = valueAt(service, 'spec', 'selector');
      const pairs = isJsonObject(selector)
        ? Object.entries(selector).map(([key, value]) => `${key}=${String(value)}`)
        : [];
      return [
        nameOf(service),
        stringAt(service, 'spec', 'type'),
        stringAt(service, 'spec', 'clusterIP') || NONE,
        serviceExternal(service),
        servicePorts(service),
        age(service, now),
        orNone(pairs.sort()),
      ];
    },
  },
  'events.': {
    columns: [
      'Last Seen',
      'Type',
      'Reason',
      'Object',
      '+Subobject',
      '+Source',
      'Message',
      '+First Seen',
      '+Count',
      '+Name',
    ],
    row: eventRow,
  },
  'leases.coordination.k8s.io': {
    columns: ['Name', 'Holder', 'Age'],
    row: (lease, now) => [nameOf(lease), stringAt(lease, 'spec', 'holderIdentity'), age(lease, now)],
  },
  'persistentvolumes.': {
    columns: [
      'Name',
      'Capacity',
      'Access Modes',
      'Reclaim Policy',
      'Status',
      'Claim',
      'StorageClass',
      'VolumeAttributesClass',
      'Reason',
      'Age',
      '+VolumeMode',
    ],
    row: (volume, now) => {
      const claim = valueAt(volume, 'spec', 'claimRef');
      const modes = listAt(volume, 'spec', 'accessModes').map((mode) => ACCESS_MODES[String(mode)] ?? String(mode));
      return [
        nameOf(volume),
        stringAt(volume, 'spec', 'capacity', 'storage'),
        modes.join(','),
        stringAt(volume, 'spec', 'persistentVolumeReclaimPolicy'),
        volume.metadata.deletionTimestamp === undefined ? stringAt(volume, 'status', 'phase') : 'Terminating',
        claim === undefined ? '' : `${stringAt(claim, 'namespace')}/${stringAt(claim, 'name')}`,
        stringAt(volume, 'spec', 'storageClassName'),
        stringAt(volume, 'spec', 'volumeAttributesClassName') || '<unset>',
        stringAt(volume, 'status', 'reason'),
        age(volume, now),
        stringAt(volume, 'spec', 'volumeMode') || '<unset>',
      ];
    },
  },
  'namespaces.': {
    columns: ['Name', 'Status', 'Age'],
    row: (namespace, now) => [nameOf(namespace), stringAt(namespace, 'status', 'phase'), age(namespace, now)],
  },
  'configmaps.': {
    columns: ['Name', 'Data', 'Age'],
    row: (map, now) => [nameOf(map), size(map['data']) + size(map['binaryData']), age(map, now)],
  },
  'secrets.': {
    columns: ['Name', 'Type', 'Data', 'Age'],
    row: (secret, now) => [nameOf(secret), stringAt(secret, 'type'), size(secret['data']), age(secret, now)],
  },
  'pods.': {
    columns: ['Name', 'Ready', 'Status', 'Restarts', 'Age', '+IP', '+Node', '+Nominated Node', '+Readiness Gates'],
    row: podRow,
  },
  'endpointslices.discovery.k8s.io': {
    columns: ['Name', 'AddressType', 'Ports', 'Endpoints', 'Age'],
    row: (slice, now) => {
      const ports = listAt(slice, 'ports').map((port) => String(Number(valueAt(port, 'port') ?? 0) || '*'));
      const addresses = listAt(slice, 'endpoints').flatMap((endpoint) => listAt(endpoint, 'addresses'));
      const rest = addresses.length > 3 ? ` + ${addresses.length - 3} more...` : '';
      return [
        nameOf(slice),
        stringAt(slice, 'addressType'),
        ports.join(',') || '<unset>',
        addresses.slice(0, 3).join(',') + rest || '<unset>',
        age(slice, now),
      ];
    },
  },
};
