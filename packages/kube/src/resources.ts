/** The kinds that this repository reads and writes, each tied to its type: `client.of(resources.nodes)`. */
import type { KubeObject } from './kube-object.ts';
import type { Resource } from './resource.ts';
import type {
  CertificateSigningRequest,
  ConfigMap,
  CoreEvent,
  CSIDriver,
  CSINode,
  Endpoints,
  EndpointSlice,
  EventsV1Event,
  Lease,
  Namespace,
  Node,
  PersistentVolume,
  PersistentVolumeClaim,
  Pod,
  Secret,
  SelfSubjectAccessReview,
  Service,
  ServiceAccount,
  StorageClass,
  SubjectAccessReview,
  TokenReview,
  VolumeAttachment,
} from './types/index.ts';

function define<T extends KubeObject>(
  group: string,
  version: string,
  plural: string,
  kind: string,
  scope: 'cluster' | 'namespace',
): Resource<T> {
  return Object.freeze({ group, version, plural, kind, namespaced: scope === 'namespace' });
}

const certificateSigningRequests: Resource<CertificateSigningRequest> = define(
  'certificates.k8s.io',
  'v1',
  'certificatesigningrequests',
  'CertificateSigningRequest',
  'cluster',
);
const configMaps: Resource<ConfigMap> = define('', 'v1', 'configmaps', 'ConfigMap', 'namespace');
const coreEvents: Resource<CoreEvent> = define('', 'v1', 'events', 'Event', 'namespace');
const csiDrivers: Resource<CSIDriver> = define('storage.k8s.io', 'v1', 'csidrivers', 'CSIDriver', 'cluster');
const csiNodes: Resource<CSINode> = define('storage.k8s.io', 'v1', 'csinodes', 'CSINode', 'cluster');
const endpoints: Resource<Endpoints> = define('', 'v1', 'endpoints', 'Endpoints', 'namespace');
const endpointSlices: Resource<EndpointSlice> = define(
  'discovery.k8s.io',
  'v1',
  'endpointslices',
  'EndpointSlice',
  'namespace',
);
const events: Resource<EventsV1Event> = define('events.k8s.io', 'v1', 'events', 'Event', 'namespace');
const leases: Resource<Lease> = define('coordination.k8s.io', 'v1', 'leases', 'Lease', 'namespace');
const namespaces: Resource<Namespace> = define('', 'v1', 'namespaces', 'Namespace', 'cluster');
const nodes: Resource<Node> = define('', 'v1', 'nodes', 'Node', 'cluster');
const persistentVolumeClaims: Resource<PersistentVolumeClaim> = define(
  '',
  'v1',
  'persistentvolumeclaims',
  'PersistentVolumeClaim',
  'namespace',
);
const persistentVolumes: Resource<PersistentVolume> = define(
  '',
  'v1',
  'persistentvolumes',
  'PersistentVolume',
  'cluster',
);
const pods: Resource<Pod> = define('', 'v1', 'pods', 'Pod', 'namespace');
const secrets: Resource<Secret> = define('', 'v1', 'secrets', 'Secret', 'namespace');
const selfSubjectAccessReviews: Resource<SelfSubjectAccessReview> = define(
  'authorization.k8s.io',
  'v1',
  'selfsubjectaccessreviews',
  'SelfSubjectAccessReview',
  'cluster',
);
const serviceAccounts: Resource<ServiceAccount> = define('', 'v1', 'serviceaccounts', 'ServiceAccount', 'namespace');
const services: Resource<Service> = define('', 'v1', 'services', 'Service', 'namespace');
const storageClasses: Resource<StorageClass> = define(
  'storage.k8s.io',
  'v1',
  'storageclasses',
  'StorageClass',
  'cluster',
);
const subjectAccessReviews: Resource<SubjectAccessReview> = define(
  'authorization.k8s.io',
  'v1',
  'subjectaccessreviews',
  'SubjectAccessReview',
  'cluster',
);
const tokenReviews: Resource<TokenReview> = define(
  'authentication.k8s.io',
  'v1',
  'tokenreviews',
  'TokenReview',
  'cluster',
);
const volumeAttachments: Resource<VolumeAttachment> = define(
  'storage.k8s.io',
  'v1',
  'volumeattachments',
  'VolumeAttachment',
  'cluster',
);

/** `resources.nodes`, `resources.leases` … Events: `coreEvents` is `v1`, `events` is `events.k8s.io/v1`. */
export const resources: {
  readonly certificateSigningRequests: Resource<CertificateSigningRequest>;
  readonly configMaps: Resource<ConfigMap>;
  readonly coreEvents: Resource<CoreEvent>;
  readonly csiDrivers: Resource<CSIDriver>;
  readonly csiNodes: Resource<CSINode>;
  readonly endpoints: Resource<Endpoints>;
  readonly endpointSlices: Resource<EndpointSlice>;
  readonly events: Resource<EventsV1Event>;
  readonly leases: Resource<Lease>;
  readonly namespaces: Resource<Namespace>;
  readonly nodes: Resource<Node>;
  readonly persistentVolumeClaims: Resource<PersistentVolumeClaim>;
  readonly persistentVolumes: Resource<PersistentVolume>;
  readonly pods: Resource<Pod>;
  readonly secrets: Resource<Secret>;
  readonly selfSubjectAccessReviews: Resource<SelfSubjectAccessReview>;
  readonly serviceAccounts: Resource<ServiceAccount>;
  readonly services: Resource<Service>;
  readonly storageClasses: Resource<StorageClass>;
  readonly subjectAccessReviews: Resource<SubjectAccessReview>;
  readonly tokenReviews: Resource<TokenReview>;
  readonly volumeAttachments: Resource<VolumeAttachment>;
} = {
  certificateSigningRequests,
  configMaps,
  coreEvents,
  csiDrivers,
  csiNodes,
  endpoints,
  endpointSlices,
  events,
  leases,
  namespaces,
  nodes,
  persistentVolumeClaims,
  persistentVolumes,
  pods,
  secrets,
  selfSubjectAccessReviews,
  serviceAccounts,
  services,
  storageClasses,
  subjectAccessReviews,
  tokenReviews,
  volumeAttachments,
};
