import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  globalSection,
  loadBalancerClassSection,
  loadBalancerSection,
  metadataSection,
  networkingSection,
  routeSection,
  type Section,
  type ServedKey,
} from './cloud-conf-keys.ts';

/** Every key that cloud-provider-openstack 1.36 can be given: the tags of its structs, and the names of fields without one. */
const upstream: Readonly<Record<string, string>> = {
  Global: `application-credential-id application-credential-name application-credential-secret auth-url ca-file cafilecontents
    cert-file cloud clouds-file domain-id domain-name key-file os-endpoint-type password region tenant-domain-id
    tenant-domain-name tenant-id tenant-name tls-insecure token trust-id trustee-id trustee-password use-clouds user-domain-id
    user-domain-name user-id username`,
  Networking: 'address-sort-order internal-network-name ipv6-support-disabled public-network-name',
  LoadBalancer: `availability-zone cascade-delete container-store create-monitor default-tls-container-ref
    enable-ingress-hostname enabled flavor-id floating-network-id floating-subnet floating-subnet-id floating-subnet-tags
    ingress-hostname-suffix internal-lb lb-method lb-provider lb-version manage-security-groups max-shared-lb member-subnet-id
    monitor-delay monitor-max-retries monitor-max-retries-down monitor-timeout network-id node-selector
    provider-requires-serial-api-calls subnet-id`,
  LoadBalancerClass: `floating-network-id floating-subnet floating-subnet-id floating-subnet-tags member-subnet-id network-id
    subnet-id`,
  Route: 'router-id',
  Metadata: 'request-timeout search-order',
};

function keysOf<S>({ name, keys, unserved }: Section<S>): [string, string[]] {
  const served = Object.values(keys) as readonly ServedKey<unknown>[];
  const upstreams = served.filter(({ own }) => own !== true);
  return [name, [...upstreams, ...unserved].map(({ key }) => key).toSorted()];
}

test('the table has every key of upstream, and none but our own besides', () => {
  const table = Object.fromEntries([
    keysOf(globalSection),
    keysOf(networkingSection),
    keysOf(loadBalancerSection),
    keysOf(loadBalancerClassSection),
    keysOf(routeSection),
    keysOf(metadataSection),
  ]);
  const expected = Object.entries(upstream).map(([name, keys]) => [name, keys.split(/\s+/u).toSorted()]);
  assert.deepEqual(table, Object.fromEntries(expected));
});
