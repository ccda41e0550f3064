/**
 * The load balancers of the provider conformance suite by Octavia itself: 41 tests in more than an hour, most of it the five that
 * break off or lose the answer of one request after the other.
 */
import { providerConformance, providerTests } from '@outrigger/conformance';
import openStack from '@outrigger/provider-openstack';
import { labFixture } from './conformance-fixture.ts';

await providerConformance({
  name: 'openstack, by Octavia',
  provider: () => openStack(),
  fixture: labFixture,
  tests: providerTests.filter(({ feature }) => feature === 'load-balancers'),
});
