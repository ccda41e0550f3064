import assert from 'node:assert/strict';
import { test } from 'node:test';
import { findEndpoint, missingEndpoint, type CatalogueEntry, type EndpointChoice } from './catalogue.ts';

const at = (region: string, kind: string): object => ({
  interface: kind,
  region,
  region_id: `${region}-id`,
  url: `https://${region}/${kind}/`,
});
const catalogue: readonly CatalogueEntry[] = [
  { type: 'compute', endpoints: ['one', 'two'].flatMap((region) => [at(region, 'public'), at(region, 'internal')]) },
  { type: 'network', endpoints: [at('one', 'public'), { interface: 'admin', region: 'one', url: '' }] },
  { type: 'volumev3', endpoints: [at('one', 'public')] },
  { type: 'volume', endpoints: [at('two', 'public')] },
  { type: 'load-balancer' },
  {},
];
const choice = (region?: string, endpointType: EndpointChoice['endpointType'] = 'public'): EndpointChoice => ({
  region,
  endpointType,
});

test('by type, region and interface', () => {
  assert.equal(findEndpoint(catalogue, 'compute', choice('two')), 'https://two/public');
  assert.equal(findEndpoint(catalogue, 'compute', choice('two-id', 'internal')), 'https://two/internal');
  assert.equal(findEndpoint(catalogue, 'network', choice()), 'https://one/public');
  assert.equal(findEndpoint(catalogue, 'block-storage', choice('one')), 'https://one/public');
  for (const [service, chosen] of [
    ['compute', choice('three')],
    ['compute', choice('one', 'admin')],
    ['network', choice('one', 'admin')],
    ['load-balancer', choice('one')],
    ['key-manager', choice()],
  ] as const) {
    assert.equal(findEndpoint(catalogue, service, chosen), undefined);
  }
});

test('several regions and none named is for a person to settle', () => {
  assert.throws(() => findEndpoint(catalogue, 'compute', choice()), {
    code: 'configuration',
    message: 'nova (compute) is in the regions one, two: name one with region in [Global] of cloud.conf',
  });
});

test('what is missing is said with what there is', () => {
  assert.equal(
    missingEndpoint(catalogue, 'compute', choice('three')).message,
    'the catalogue of keystone has no public end point of nova (compute) in the region three, but internal in one, internal in two, public in one, public in two: correct region or os-endpoint-type in [Global] of cloud.conf, or have it added',
  );
  assert.match(
    missingEndpoint(catalogue, 'key-manager', choice()).message,
    /barbican \(key-manager\), but none at all/u,
  );
});
