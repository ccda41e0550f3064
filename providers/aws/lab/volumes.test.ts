/** Volumes on the fake. */
import { fakeLabCloud } from './fake-cloud.suite.ts';
import { volumeScenarios } from './volumes.suite.ts';

volumeScenarios('fake', async () => fakeLabCloud(0));
