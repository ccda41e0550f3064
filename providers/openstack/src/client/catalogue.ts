/** Keystone's catalogue: which services there are, and where. */
import { CloudError } from '@outrigger/cloud-provider';
import type { EndpointType } from '../config/cloud-config.ts';
import type { ServiceType } from './api-client.ts';

/** As in keystone's answer (`token.catalog`). */
export interface CatalogueEntry {
  readonly type?: string;
  readonly endpoints?: readonly Endpoint[];
}

interface Endpoint {
  readonly interface?: string;
  readonly region?: string;
  readonly region_id?: string;
  readonly url?: string;
}

/** The official type first, then what it was called before: https://service-types.openstack.org. */
const TYPES: Readonly<Record<ServiceType, readonly string[]>> = {
  compute: ['compute'],
  network: ['network'],
  'load-balancer': ['load-balancer'],
  'block-storage': ['block-storage', 'block-store', 'volumev3', 'volume'],
  'key-manager': ['key-manager'],
};

/** For messages. */
export const SERVICE_NAMES: Readonly<Record<ServiceType, string>> = {
  compute: 'nova (compute)',
  network: 'neutron (network)',
  'load-balancer': 'octavia (load-balancer)',
  'block-storage': 'cinder (block-storage)',
  'key-manager': 'barbican (key-manager)',
};

export interface EndpointChoice {
  readonly region: string | undefined;
  readonly endpointType: EndpointType;
}

function endpointsOf(
  catalogue: readonly CatalogueEntry[],
  type: string,
  endpointType: EndpointType,
): readonly Endpoint[] {
  return catalogue
    .filter((entry) => entry.type === type)
    .flatMap((entry) => entry.endpoints ?? [])
    .filter((endpoint) => endpoint.interface === endpointType);
}

/** The URL of a service, without a slash at its end; `undefined` where this region has no such end point. */
export function findEndpoint(
  catalogue: readonly CatalogueEntry[],
  service: ServiceType,
  { region, endpointType }: EndpointChoice,
): string | undefined {
  for (const type of TYPES[service]) {
    const urls = endpointsOf(catalogue, type, endpointType).filter(
      (endpoint) => region === undefined || [endpoint.region, endpoint.region_id].includes(region),
    );
    const regions = [...new Set(urls.map((endpoint) => endpoint.region ?? endpoint.region_id ?? ''))];
    if (regions.length > 1) {
      throw new CloudError(
        'configuration',
        `${SERVICE_NAMES[service]} is in the regions ${regions.toSorted().join(', ')}: name one with region in [Global] of cloud.conf`,
      );
    }
    const url = urls[0]?.url;
    if (url !== undefined && url !== '') return url.replace(/\/+$/u, '');
  }
  return undefined;
}

/** The region that is asked: the one that is named, or the one that the catalogue has alone. */
export function regionOf(
  catalogue: readonly CatalogueEntry[],
  service: ServiceType,
  { region, endpointType }: EndpointChoice,
): string | undefined {
  if (region !== undefined) return region;
  const endpoints = TYPES[service].flatMap((type) => endpointsOf(catalogue, type, endpointType));
  return endpoints.map((endpoint) => endpoint.region ?? endpoint.region_id).find((found) => found !== undefined);
}

/** Where the catalogue has it: what a person who looks for a service needs to know. */
export function missingEndpoint(
  catalogue: readonly CatalogueEntry[],
  service: ServiceType,
  { region, endpointType }: EndpointChoice,
): CloudError {
  const elsewhere = catalogue
    .filter((entry) => TYPES[service].includes(entry.type ?? ''))
    .flatMap((entry) => entry.endpoints ?? [])
    .map((endpoint) => `${endpoint.interface} in ${endpoint.region ?? endpoint.region_id}`);
  const where = region === undefined ? '' : ` in the region ${region}`;
  const has = elsewhere.length === 0 ? 'none at all' : [...new Set(elsewhere)].toSorted().join(', ');
  return new CloudError(
    'unsupported',
    `the catalogue of keystone has no ${endpointType} end point of ${SERVICE_NAMES[service]}${where}, but ${has}: correct region or os-endpoint-type in [Global] of cloud.conf, or have it added`,
  );
}
