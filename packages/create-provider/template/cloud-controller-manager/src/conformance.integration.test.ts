/** Every promise of Outrigger's contract that concerns this provider, each a test of its own. */
import { providerConformance } from '@outrigger/conformance';
import { createProviderFixture } from '../fake/fixture.ts';
import makeProvider from './provider.ts';

await providerConformance({
  name: 'my-cloud',
  provider: makeProvider,
  fixture: createProviderFixture,
  without: {
    'instances / place is one text for all machines and over restarts': 'the provider says no place',
    'provider / a changed config that cannot be read leaves the old one in use': 'the provider has no reconfigure',
  },
});
