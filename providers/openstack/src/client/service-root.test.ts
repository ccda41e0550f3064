import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import type { ServiceType } from './api-client.ts';
import { compareMicroversions } from './microversion.ts';
import { readVersions, serviceUrls } from './service-root.ts';

const urls: readonly (readonly [ServiceType, endpoint: string, root: string | undefined, versions: string])[] = [
  ['compute', 'http://h:8774/v2.1', 'http://h:8774/v2.1', 'http://h:8774/v2.1/'],
  ['compute', 'https://h/compute/v2.1/abc', 'https://h/compute/v2.1/abc', 'https://h/compute/v2.1/'],
  ['compute', 'https://h/compute', undefined, 'https://h/compute/'],
  ['block-storage', 'https://h/volume/v3/abc', 'https://h/volume/v3/abc', 'https://h/volume/v3/'],
  ['network', 'http://h:9696', 'http://h:9696', 'http://h:9696/'],
  ['network', 'https://h/networking/v2.0', 'https://h/networking', 'https://h/networking/'],
  ['load-balancer', 'http://h:9876', 'http://h:9876', 'http://h:9876/'],
  ['load-balancer', 'https://h/load-balancer/v2', 'https://h/load-balancer', 'https://h/load-balancer/'],
  ['load-balancer', 'https://h/load-balancer/v2.0', 'https://h/load-balancer', 'https://h/load-balancer/'],
  ['key-manager', 'https://h/key-manager/v1', 'https://h/key-manager', 'https://h/key-manager/'],
];

for (const [service, endpoint, root, versions] of urls) {
  test(`${service} at ${endpoint}`, () => {
    assert.deepEqual(serviceUrls(service, endpoint), { root, versions });
  });
}

test('nova, with its version in the end point or without', () => {
  const two = {
    versions: [
      { id: 'v2.0', version: '' },
      { id: 'v2.1', version: '2.93', min_version: '2.1' },
    ],
  };
  assert.deepEqual(readVersions('compute', serviceUrls('compute', 'https://h/compute'), two), {
    root: 'https://h/compute/v2.1',
    max: '2.93',
  });
  const one = { version: { id: 'v2.1', version: '2.93' } };
  const versioned = serviceUrls('compute', 'http://h:8774/v2.1/abc');
  assert.deepEqual(readVersions('compute', versioned, one), { root: 'http://h:8774/v2.1/abc', max: '2.93' });
});

test('octavia has a version for each change: the highest is not the last in the alphabet', () => {
  const versions = ['v2.0', 'v2.9', 'v2.26', 'v2.3', 'v1'].map((id) => ({ id, status: 'SUPPORTED' }));
  const found = readVersions('load-balancer', serviceUrls('load-balancer', 'http://h:9876'), { versions });
  assert.deepEqual(found, { root: 'http://h:9876', max: '2.26' });
});

test('cinder and neutron', () => {
  const cinder = { versions: [{ id: 'v3.0', version: '3.70', min_version: '3.0' }] };
  assert.deepEqual(readVersions('block-storage', serviceUrls('block-storage', 'http://h:8776'), cinder), {
    root: 'http://h:8776/v3',
    max: '3.70',
  });
  const neutron = { versions: [{ id: 'v2.0', status: 'CURRENT' }] };
  assert.equal(readVersions('network', serviceUrls('network', 'http://h:9696'), neutron).max, undefined);
});

test('what is no document of versions proves nothing', () => {
  for (const body of [undefined, null, '', [], {}, { versions: 'v2.1' }, { versions: [{ id: 'v2.0' }] }]) {
    assert.throws(() => readVersions('compute', serviceUrls('compute', 'http://h/compute'), body), {
      code: 'unavailable',
    });
  }
});

test('microversions are compared part by part', () => {
  const part = fc.integer({ min: 0, max: 300 });
  fc.assert(
    fc.property(part, part, part, part, (a, b, c, d) => {
      assert.equal(Math.sign(compareMicroversions(`${a}.${b}`, `${c}.${d}`)), Math.sign(a === c ? b - d : a - c));
    }),
  );
});
