/**
 * The provider conformance suite over the OpenStack services themselves, with real servers and no Kubernetes: what of it takes seconds.
 * Load balancers, of which Octavia makes one in half a minute or more, have a file of their own.
 */
import { providerConformance, providerTests } from '@outrigger/conformance';
import openStack from '@outrigger/provider-openstack';
import { labFixture } from './conformance-fixture.ts';

const FEATURES: readonly string[] = ['provider', 'instances', 'routes'];

await providerConformance({
  name: 'openstack, by its services',
  provider: () => openStack(),
  fixture: labFixture,
  tests: providerTests.filter(({ feature }) => FEATURES.includes(feature)),
});
