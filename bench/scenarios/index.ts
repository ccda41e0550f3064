/** All scenarios, in the order in which they run. */
import type { Scenario } from '../scenario.ts';
import { failoverDeletions } from './failover-deletions.ts';
import { faults } from './faults.ts';
import { heartbeats } from './heartbeats.ts';
import { idle } from './idle.ts';
import { ipam } from './ipam.ts';
import { lifecycle } from './lifecycle.ts';
import { newborn } from './newborn.ts';
import { parts } from './parts.ts';
import { pass } from './pass.ts';
import { pool } from './pool.ts';
import { rolling } from './rolling.ts';
import { routes } from './routes.ts';
import { services } from './services.ts';
import { trickle } from './trickle.ts';
import { wars } from './wars.ts';

export const scenarios: readonly Scenario[] = [
  trickle,
  pass,
  services,
  parts,
  failoverDeletions,
  routes,
  ipam,
  lifecycle,
  heartbeats,
  newborn,
  pool,
  rolling,
  faults,
  wars,
  idle,
];
