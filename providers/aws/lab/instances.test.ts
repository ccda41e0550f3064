/** Instances on the fake. */
import { fakeLabCloud } from './fake-cloud.suite.ts';
import { instanceScenarios } from './instances.suite.ts';

instanceScenarios('fake', async () => fakeLabCloud(3));
