/** The provider over the fake AWS, judged by the conformance suite. */
import { providerConformance } from '@outrigger/conformance';
import { awsFixture, type AwsFixture } from './aws-fixture.suite.ts';

await providerConformance({
  name: 'aws',
  provider: (fixture: AwsFixture) => fixture.provider(),
  fixture: () => awsFixture(),
});
