/** Load balancers on the fake. */
import { fakeLabCloud } from './fake-cloud.suite.ts';
import { loadBalancerScenarios } from './load-balancers.suite.ts';

loadBalancerScenarios('fake', async () => fakeLabCloud(3));
