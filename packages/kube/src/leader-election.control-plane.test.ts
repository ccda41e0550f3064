import { leaderElectionSuite } from './leader-election.suite.ts';

leaderElectionSuite('real control plane');
