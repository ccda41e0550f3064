/** The provider over the fake OpenStack, judged by the conformance suite. */
import { providerConformance, providerTests } from '@outrigger/conformance';
import { openStackFixture, type OpenStackFixture } from './openstack-fixture.suite.ts';

const provider = (fixture: OpenStackFixture): ReturnType<OpenStackFixture['provider']> => fixture.provider();

await providerConformance({
  name: 'openstack',
  provider,
  fixture: () => openStackFixture(),
  without: {
    'load-balancers / serves what it declares: a requested address':
      'only an administrator of Neutron may choose a floating IP',
  },
});

await providerConformance({
  name: 'openstack, whose services fail themselves',
  provider,
  fixture: () => openStackFixture({ failing: 'status' }),
  // A 404 of cinder's own is what it says of a volume that is gone.
  tests: providerTests.filter(({ feature, hooks = [] }) => hooks.includes('fail') && feature !== 'volumes'),
});

await providerConformance({
  name: 'openstack without extraroute-atomic',
  provider,
  fixture: () => openStackFixture({ without: ['extraroute-atomic'] }),
  tests: providerTests.filter(({ feature }) => feature === 'routes'),
});
