/** From cloud-provider-aws to the program and back, twice, on the fake and a real control plane: nodes, routes and load balancers of both APIs. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { controlPlaneOrSkip } from '@outrigger/testing';
import { buildOfficial } from '../../providers/aws/lab/official.ts';
import { LAB_ENV } from '../../providers/aws/lab/seed-account.ts';
import { builtOrSkip } from '../built-or-skip.ts';
import { setEnv } from '../set-env.ts';
import { Migration } from './migration.ts';
import { thereAndBack } from './there-and-back.ts';

for (const [mode, global, rules] of [
  ['security groups of its own for each (Managed)', ['NLBSecurityGroupMode = Managed'], 0],
  // Without the mode cloud-provider-aws does not look at the groups that a Network Load Balancer has.
  ['Network Load Balancers without security groups (the default)', [], 1],
] as const) {
  test(
    `nodes, routes and load balancers go to the program and back, twice: ${mode}`,
    { timeout: 1_800_000 },
    async (t) => {
      const program = await builtOrSkip(t, 'cloud-provider-aws', buildOfficial);
      if (program === undefined) return;
      const controlPlane = await controlPlaneOrSkip(t);
      if (!controlPlane) return;
      setEnv(t, LAB_ENV);
      const migration = await Migration.start(t, controlPlane, { global });
      const official = await migration.other('official', program, ['--allocate-node-cidrs=false']);
      const outrigger = await migration.outrigger(t);
      // Nobody has the group any more, and cloud-provider-aws knows of no such group.
      assert.deepEqual(await thereAndBack(t, migration, [official, outrigger]), { groups: ['k8s-outrigger'], rules });
    },
  );
}
