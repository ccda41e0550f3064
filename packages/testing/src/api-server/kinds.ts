/** The kinds that the embedded server has: where they live, what they are called, and the rules for their fields. */
import { apiVersionOf, type Resource } from '@outrigger/kube';
import { stringAt, type ApiObject, type NamedObject } from './api-object.ts';
import { eventRules, eventsGroupFromCore, eventsGroupToCore } from './event-rules.ts';
import type { KindRules } from './kind-rules.ts';
import { namespaceRules } from './namespace-rules.ts';
import { nodeRules } from './node-rules.ts';
import { podRules } from './pod-rules.ts';
import { serviceRules } from './service-rules.ts';
import { volumeRules } from './volume-rules.ts';
import type { MergeKeys } from './strategic-merge-patch.ts';

export interface Kind extends Resource {
  readonly apiVersion: string;
  readonly singular: string;
  readonly shortNames: readonly string[];
  readonly categories: readonly string[];
  /** Where the objects are kept: kinds that show the same objects in two groups share it. */
  readonly storage: string;
  /** Whether there is a status subresource, so that the main resource ignores changes of status. */
  readonly status: boolean;
  readonly rules: KindRules;
  readonly mergeKeys: MergeKeys;
  /** Field labels beside `metadata.name` and `metadata.namespace`. */
  readonly selectableFields: readonly string[];
  fieldsOf(object: ApiObject): Record<string, string>;
  /** Between the stored shape and this group's shape, where these differ. */
  readonly view?: { fromStored(object: NamedObject): NamedObject; toStored(object: NamedObject): NamedObject };
}

interface KindSpec {
  readonly group?: string;
  readonly version?: string;
  readonly plural: string;
  readonly kind: string;
  readonly namespaced?: boolean;
  readonly shortNames?: readonly string[];
  readonly categories?: readonly string[];
  readonly storage?: string;
  readonly status?: boolean;
  readonly rules?: KindRules;
  readonly mergeKeys?: MergeKeys;
  /** Field label to the default of an absent value. The label is also the path. */
  readonly fields?: Readonly<Record<string, string>>;
  readonly view?: Kind['view'];
}

function define(spec: KindSpec): Kind {
  const group = spec.group ?? '';
  const version = spec.version ?? 'v1';
  const fields = Object.entries(spec.fields ?? {});
  return {
    group,
    version,
    plural: spec.plural,
    kind: spec.kind,
    namespaced: spec.namespaced ?? false,
    apiVersion: apiVersionOf({ group, version }),
    singular: spec.kind.toLowerCase(),
    shortNames: spec.shortNames ?? [],
    categories: spec.categories ?? [],
    storage: spec.storage ?? `${spec.plural}.${group}`,
    status: spec.status ?? false,
    rules: spec.rules ?? {},
    mergeKeys: spec.mergeKeys ?? {},
    selectableFields: fields.map(([label]) => label),
    fieldsOf: (object) => {
      const found: Record<string, string> = { 'metadata.name': object.metadata?.name ?? '' };
      if (spec.namespaced) found['metadata.namespace'] = object.metadata?.namespace ?? '';
      for (const [label, absent] of fields) {
        const path = label.split('.');
        const value = path.reduce<unknown>((at, step) => (at as Record<string, unknown> | undefined)?.[step], object);
        found[label] = typeof value === 'boolean' ? String(value) : stringAt(object, ...path) || absent;
      }
      return found;
    },
    ...(spec.view ? { view: spec.view } : {}),
  };
}

const CONDITIONS: MergeKeys = { 'status.conditions': 'type' };

const INVOLVED_OBJECT = {
  'involvedObject.kind': '',
  'involvedObject.namespace': '',
  'involvedObject.name': '',
  'involvedObject.uid': '',
  'involvedObject.apiVersion': '',
  'involvedObject.resourceVersion': '',
  'involvedObject.fieldPath': '',
  reason: '',
  reportingComponent: '',
  source: '',
  type: '',
};

const CORE_EVENT = define({
  plural: 'events',
  kind: 'Event',
  namespaced: true,
  shortNames: ['ev'],
  rules: eventRules,
  fields: INVOLVED_OBJECT,
});

/** Kinds in the order of discovery. */
export const KINDS: readonly Kind[] = [
  define({ plural: 'configmaps', kind: 'ConfigMap', namespaced: true, shortNames: ['cm'] }),
  define({
    plural: 'endpoints',
    kind: 'Endpoints',
    namespaced: true,
    shortNames: ['ep'],
    rules: { createOnUpdate: true },
  }),
  CORE_EVENT,
  define({
    plural: 'namespaces',
    kind: 'Namespace',
    shortNames: ['ns'],
    status: true,
    rules: namespaceRules,
    mergeKeys: CONDITIONS,
    fields: { 'status.phase': '' },
  }),
  define({
    plural: 'nodes',
    kind: 'Node',
    shortNames: ['no'],
    status: true,
    rules: nodeRules,
    mergeKeys: { ...CONDITIONS, 'status.addresses': 'type', 'spec.podCIDRs': 'set' },
    fields: { 'spec.unschedulable': 'false' },
  }),
  define({
    plural: 'persistentvolumes',
    kind: 'PersistentVolume',
    shortNames: ['pv'],
    status: true,
    rules: volumeRules,
  }),
  define({
    plural: 'pods',
    kind: 'Pod',
    namespaced: true,
    shortNames: ['po'],
    categories: ['all'],
    status: true,
    rules: podRules,
    mergeKeys: {
      ...CONDITIONS,
      'spec.containers': 'name',
      'spec.containers.env': 'name',
      'spec.containers.ports': 'containerPort',
      'spec.containers.volumeMounts': 'mountPath',
      'spec.initContainers': 'name',
      'spec.volumes': 'name',
      'spec.hostAliases': 'ip',
      'spec.imagePullSecrets': 'name',
      'status.podIPs': 'ip',
      'status.hostIPs': 'ip',
    },
    fields: { 'spec.nodeName': '', 'spec.serviceAccountName': '', 'status.phase': '', 'status.podIP': '' },
  }),
  define({
    plural: 'secrets',
    kind: 'Secret',
    namespaced: true,
    fields: { type: '' },
    rules: { defaults: (o) => void (o['type'] ??= 'Opaque') },
  }),
  define({
    plural: 'serviceaccounts',
    kind: 'ServiceAccount',
    namespaced: true,
    shortNames: ['sa'],
    mergeKeys: { secrets: 'name' },
  }),
  define({
    plural: 'services',
    kind: 'Service',
    namespaced: true,
    shortNames: ['svc'],
    categories: ['all'],
    status: true,
    rules: serviceRules,
    mergeKeys: { ...CONDITIONS, 'spec.ports': 'port' },
    fields: { 'spec.clusterIP': '', 'spec.type': '' },
  }),
  // As it is stored; who asks is not filled in, and nothing is approved or signed.
  define({
    group: 'certificates.k8s.io',
    plural: 'certificatesigningrequests',
    kind: 'CertificateSigningRequest',
    shortNames: ['csr'],
    status: true,
    fields: { 'spec.signerName': '' },
  }),
  define({
    group: 'coordination.k8s.io',
    plural: 'leases',
    kind: 'Lease',
    namespaced: true,
    rules: { createOnUpdate: true, versionRequired: true },
  }),
  define({
    group: 'discovery.k8s.io',
    plural: 'endpointslices',
    kind: 'EndpointSlice',
    namespaced: true,
    rules: { generation: true, createOnUpdate: false },
  }),
  define({
    group: 'events.k8s.io',
    plural: 'events',
    kind: 'Event',
    namespaced: true,
    shortNames: ['ev'],
    storage: CORE_EVENT.storage,
    rules: eventRules,
    view: { fromStored: eventsGroupFromCore, toStored: eventsGroupToCore },
  }),
];

/** The kind at this place in the API, if there is one. */
export function findKind(group: string, version: string, plural: string): Kind | undefined {
  return KINDS.find((kind) => kind.group === group && kind.version === version && kind.plural === plural);
}

/** The kind whose storage it is: the one without a view. */
export function storageKind(kind: Kind): Kind {
  return kind.view ? (KINDS.find((other) => other.storage === kind.storage && !other.view) ?? kind) : kind;
}

export function kindOf(object: ApiObject): Kind | undefined {
  return KINDS.find((kind) => kind.kind === object.kind && kind.apiVersion === object.apiVersion);
}
