/** From cloud-provider-aws to the program and back, twice, on the fake and a real control plane: nodes, routes and load balancers of both APIs. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { controlPlaneOrSkip } from '@outrigger/testing';
import type { AccountState, RuleState } from '../../providers/aws/lab/account-state.ts';
import { buildOfficial } from '../../providers/aws/lab/official.ts';
import { LAB_ENV } from '../../providers/aws/lab/seed-account.ts';
import { setEnv } from '../set-env.ts';
import { Migration, NODES } from './migration.ts';

const NLB = { 'service.beta.kubernetes.io/aws-load-balancer-type': 'nlb' };
/** Which cut traffic, or would make a second one. */
const HARMFUL =
  /:(?:Delete|Deregister|Detach|Create(?:LoadBalancer|Listener|TargetGroup|Route$)|ModifyListener|ReplaceRoute|SetSubnets)/u;

/** What clients and pods go by; tags and rules of groups are others' business. */
function trafficIn({ classicLoadBalancers, networkLoadBalancers, routes, targetGroups }: AccountState): object {
  return {
    routes,
    network: networkLoadBalancers.map(({ listeners, name, scheme, zones }) => ({
      name,
      scheme,
      zones,
      ports: listeners.map(({ port, protocol, targetGroup }) => [port, protocol, targetGroup]),
    })),
    targets: targetGroups.map(({ name, port, targets }) => ({ name, port, targets })),
    classic: classicLoadBalancers.map(({ healthCheck, instances, listeners, name }) => ({
      name,
      listeners,
      instances,
      healthCheck,
    })),
  };
}

const harmful = (calls: object): readonly string[] => Object.keys(calls).filter((name) => HARMFUL.test(name));

for (const [mode, global, rulesLeft] of [
  ['security groups of its own for each (Managed)', ['NLBSecurityGroupMode = Managed'], 0],
  // Without the mode cloud-provider-aws does not look at the groups that a Network Load Balancer has.
  ['Network Load Balancers without security groups (the default)', [], 1],
] as const) {
  test(
    `nodes, routes and load balancers go to the program and back, twice: ${mode}`,
    { timeout: 600_000 },
    async (t) => {
      const controlPlane = await controlPlaneOrSkip(t);
      if (!controlPlane) return;
      setEnv(t, LAB_ENV);
      const migration = await Migration.start(t, controlPlane, global);
      const official = await migration.official(await buildOfficial());
      const outrigger = await migration.outrigger(t);
      const now = async (): Promise<unknown> => [
        trafficIn(await migration.state()),
        await migration.addresses(),
        await migration.nodes(),
      ];

      await migration.begins(official);
      await migration.until(
        'nodes have their routes',
        async () => JSON.stringify(await migration.state()).split('10.244.').length > NODES,
      );
      await migration.settled(t, 'cloud-provider-aws, nodes');
      const empty = await migration.state();
      const services: string[] = [];
      const serve = async (): Promise<void> => {
        const at = services.length;
        await migration.serve(`network-${at}`, NLB, 30_080 + at);
        await migration.serve(`classic-${at}`, {}, 30_081 + at);
        services.push(`network-${at}`, `classic-${at}`);
        await migration.settled(t, `Services ${at}`);
      };
      await serve();
      for (const signal of ['SIGTERM', 'SIGKILL'] as const) {
        for (const turn of [[official, outrigger] as const, [outrigger, official] as const]) {
          const before = await now();
          assert.deepEqual(harmful(await migration.handOver(t, turn, signal)), []);
          assert.deepEqual(await now(), before);
          await serve();
        }
      }
      await migration.remove(...services);
      await migration.settled(t, 'cloud-provider-aws, removal');
      await migration.checkLeadership(t);
      const left = await migration.state();
      // Nobody has it any more, and cloud-provider-aws knows of no such group.
      const isShared = ({ name }: { readonly name: string }): boolean => name.startsWith('k8s-outrigger-');
      assert.equal(left.securityGroups.filter(isShared).length, 1);
      const isOfShared = ({ description }: RuleState): boolean =>
        description?.startsWith('load balancers of Kubernetes ') === true;
      assert.equal(left.securityGroups.flatMap(({ ingress }) => ingress.filter(isOfShared)).length, rulesLeft);
      const withoutIds = ({ securityGroups, ...rest }: AccountState): object => ({
        ...rest,
        groups: securityGroups
          .filter((one) => !isShared(one))
          .map((one) => ({ ...one, id: '', ingress: one.ingress.filter((rule) => !isOfShared(rule)) })),
      });
      assert.deepEqual(withoutIds(left), withoutIds(empty));
    },
  );
}
