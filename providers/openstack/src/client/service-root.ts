/** Where a service's requests go, and which versions it speaks: from its end point, and from its document of versions. */
import { CloudError } from '@outrigger/cloud-provider';
import type { ServiceType } from './api-client.ts';
import { SERVICE_NAMES } from './catalogue.ts';
import { compareMicroversions } from './microversion.ts';

/** What is known of a service's URLs without asking it. */
export interface ServiceUrls {
  /** What the paths of requests are put behind; `undefined` where only the document of versions tells. */
  readonly root: string | undefined;
  /** Where the document of versions is. */
  readonly versions: string;
}

/** How a service is addressed: each of these has its own way. */
const MAJOR: Readonly<Record<ServiceType, { readonly wanted: RegExp; readonly inPath: boolean }>> = {
  compute: { wanted: /^v2\.1$/u, inPath: false },
  'block-storage': { wanted: /^v3(?:\.\d+)?$/u, inPath: false },
  network: { wanted: /^v2\.0$/u, inPath: true },
  'load-balancer': { wanted: /^v2(?:\.\d+)?$/u, inPath: true },
  'key-manager': { wanted: /^v1$/u, inPath: true },
};

/**
 * An end point stands in the catalogue with its version or without (`http://h:8774/v2.1`, `https://h/compute`), and for cinder
 * with the project behind it. Of neutron, octavia and barbican, the version is part of a request's path, and cut off here.
 */
export function serviceUrls(service: ServiceType, endpoint: string): ServiceUrls {
  const [, base = endpoint, version] = /^(.*?)\/(v\d+(?:\.\d+)?)(?=\/|$)/u.exec(endpoint) ?? [];
  if (MAJOR[service].inPath) return { root: base, versions: `${base}/` };
  if (version === undefined) return { root: undefined, versions: `${endpoint}/` };
  return { root: endpoint, versions: `${base}/${version}/` };
}

/** What the document of versions says. */
export interface ServiceVersions {
  /** As `ServiceUrls.root`; known. */
  readonly root: string;
  /** The highest microversion; `undefined` where the service has none. */
  readonly max: string | undefined;
}

interface Version {
  readonly id?: string;
  /** Nova's and cinder's highest microversion; '' for a version without. */
  readonly version?: string;
  readonly max_version?: string;
}

/** From its body. Throws `unavailable` for something else. */
export function readVersions(service: ServiceType, urls: ServiceUrls, body: unknown): ServiceVersions {
  const { versions, version } = (body ?? {}) as { versions?: unknown; version?: Version };
  const all = Array.isArray(versions) ? (versions as Version[]) : version ? [version] : [];
  const fitting = all.filter(({ id }) => id !== undefined && MAJOR[service].wanted.test(id));
  const [first] = fitting;
  if (!first?.id) {
    throw new CloudError(
      'unavailable',
      `${SERVICE_NAMES[service]} at ${urls.versions} names no version that can be used: ${all.map(({ id }) => id).join(', ') || 'none at all'}`,
    );
  }
  const root = urls.root ?? `${urls.versions}${first.id.replace(/^v3\.\d+$/u, 'v3')}`;
  // Octavia has a version for each of its changes, and no header to choose one with.
  const maxima =
    service === 'load-balancer'
      ? fitting.map(({ id = '' }) => id.slice(1))
      : fitting.flatMap(({ version: max, max_version: older }) => [max, older]);
  const max = maxima
    .filter((one): one is string => one !== undefined && /^\d+\.\d+$/u.test(one))
    .toSorted(compareMicroversions)
    .at(-1);
  return { root, max: service === 'network' || service === 'key-manager' ? undefined : max };
}

/** The header with which a microversion is asked for. */
export function microversionHeader(service: ServiceType, microversion: string): Readonly<Record<string, string>> {
  if (service === 'compute') return { 'openstack-api-version': `compute ${microversion}` };
  if (service === 'block-storage') return { 'openstack-api-version': `volume ${microversion}` };
  return {};
}
