/** Load balancers on the fake. */
import { fakeLabCloud } from './fake-cloud.suite.ts';
import { loadBalancerScenarios } from './load-balancers.suite.ts';

loadBalancerScenarios('fake', { revokes: true, start: async () => fakeLabCloud(3) });
