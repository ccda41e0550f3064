/** Routes on the fake. */
import { fakeLabCloud } from './fake-cloud.suite.ts';
import { routeScenarios } from './routes.suite.ts';

routeScenarios('fake', { hasBlackholes: true, start: async () => fakeLabCloud(2) });
