/** Which kinds are generated, from which OpenAPI document, into which file. */

export interface Source {
  /** Path below `/openapi/v3/`. */
  readonly document: string;
  /** Beginning of the schema names in it. */
  readonly prefix: string;
  /** Name of the output file, without `.ts`. */
  readonly file: string;
  /** The kinds in use; what they refer to comes along. */
  readonly kinds: readonly string[];
}

export const sources: readonly Source[] = [
  {
    document: 'api/v1',
    prefix: 'io.k8s.api.core.v1.',
    file: 'core-v1',
    kinds: [
      'ConfigMap',
      'Endpoints',
      'Event',
      'Namespace',
      'Node',
      'PersistentVolume',
      'PersistentVolumeClaim',
      'Pod',
      'Secret',
      'Service',
      'ServiceAccount',
    ],
  },
  {
    document: 'apis/certificates.k8s.io/v1',
    prefix: 'io.k8s.api.certificates.v1.',
    file: 'certificates-v1',
    kinds: ['CertificateSigningRequest'],
  },
  {
    document: 'apis/coordination.k8s.io/v1',
    prefix: 'io.k8s.api.coordination.v1.',
    file: 'coordination-v1',
    kinds: ['Lease'],
  },
  {
    document: 'apis/discovery.k8s.io/v1',
    prefix: 'io.k8s.api.discovery.v1.',
    file: 'discovery-v1',
    kinds: ['EndpointSlice'],
  },
  { document: 'apis/events.k8s.io/v1', prefix: 'io.k8s.api.events.v1.', file: 'events-v1', kinds: ['Event'] },
  {
    document: 'apis/storage.k8s.io/v1',
    prefix: 'io.k8s.api.storage.v1.',
    file: 'storage-v1',
    kinds: ['CSIDriver', 'CSINode', 'StorageClass', 'VolumeAttachment'],
  },
  {
    document: 'apis/authentication.k8s.io/v1',
    prefix: 'io.k8s.api.authentication.v1.',
    file: 'authentication-v1',
    kinds: ['TokenReview'],
  },
  // Served below api/v1, as a subresource of service accounts.
  { document: 'api/v1', prefix: 'io.k8s.api.authentication.v1.', file: 'authentication-v1', kinds: ['TokenRequest'] },
  {
    document: 'apis/authorization.k8s.io/v1',
    prefix: 'io.k8s.api.authorization.v1.',
    file: 'authorization-v1',
    kinds: ['SelfSubjectAccessReview', 'SubjectAccessReview'],
  },
];

/** Schemas whose JSON is not what the schema says to a type generator, and the type that it is. */
export const scalars: Readonly<Record<string, { readonly name: string; readonly type: string; readonly why: string }>> =
  {
    'io.k8s.apimachinery.pkg.apis.meta.v1.Time': {
      name: 'Time',
      type: 'string',
      why: 'RFC 3339, to the second, UTC: `2026-01-31T12:00:00Z`.',
    },
    'io.k8s.apimachinery.pkg.apis.meta.v1.MicroTime': {
      name: 'MicroTime',
      type: 'string',
      why: 'RFC 3339 with six decimals, UTC: `2026-01-31T12:00:00.000000Z`.',
    },
    'io.k8s.apimachinery.pkg.api.resource.Quantity': {
      name: 'Quantity',
      type: 'string',
      why: 'The server takes numbers too, but always answers in the canonical string form: `100m`, `4`, `16Gi`.',
    },
    'io.k8s.apimachinery.pkg.util.intstr.IntOrString': {
      name: 'IntOrString',
      type: 'number | string',
      why: 'A number, or a name or percentage.',
    },
  };

/** Written by hand in `kube-object.ts`, one type for all kinds. */
export const handwritten: Readonly<Record<string, string>> = {
  'io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta': 'ObjectMeta',
  'io.k8s.apimachinery.pkg.apis.meta.v1.OwnerReference': 'OwnerReference',
};
