/** The provider over vCenters in memory, judged by the conformance suite. */
import { providerConformance } from '@outrigger/conformance';
import { vsphereFixture, type VsphereFixture } from './vsphere-fixture.suite.ts';

await providerConformance({
  name: 'vsphere',
  provider: (fixture: VsphereFixture) => fixture.provider(),
  fixture: () => vsphereFixture(),
});
