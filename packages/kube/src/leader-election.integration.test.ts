import { leaderElectionSuite } from './leader-election.suite.ts';

leaderElectionSuite('embedded');
