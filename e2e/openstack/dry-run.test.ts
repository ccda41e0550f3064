/** What a dry run prints of a Service on OpenStack is the request that is sent: over the fake, step by step. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { changesOfParts } from '../../packages/controllers/src/load-balancer/load-balancer-words.ts';
import type { Bring } from '../../packages/controllers/src/load-balancer/service-plan.ts';
import { portOf } from '../../providers/openstack/src/load-balancer/desired/tree-inputs.suite.ts';
import { callContext, Rig, serviceNamed } from '../../providers/openstack/src/load-balancer/rig.suite.ts';

test('all that is sent to Octavia and Neutron stands below its action, field by field', async () => {
  const rig = await Rig.open({ loadBalancer: { createMonitor: true, manageSecurityGroups: true } });
  rig.config = { ...rig.config, subnetId: rig.seeded.subnet.id };
  const web = serviceNamed('web', { ports: [portOf(80), portOf(53, 'UDP')] });
  const printed: string[] = [];
  for (const wanted of [true, false]) {
    for (let pass = 0; pass < 20; pass++) {
      const { others, parts } = await rig.lookAround(web);
      const desired = { ...rig.desired(web, wanted), others };
      const plan = rig.provider.plan(desired, parts);
      if (plan.complete) break;
      const shown = changesOfParts({ kind: 'bring', desired, plan } as unknown as Bring, parts);
      for (const [i, action] of plan.actions.entries()) {
        rig.cloud.calls.reset();
        await rig.provider.apply(action, desired, callContext());
        const fields = new Map((shown[i]?.changes ?? []).map(({ field, to = '' }) => [field, to]));
        const sought = new Set<string>();
        const said = [...fields].flatMap(([field, to]): readonly (readonly [string, string])[] => {
          if (!field.startsWith('request.body.')) return [];
          // What only Neutron knows until then.
          const [name = '', lookUp] = field.split('.lookUp.');
          if (lookUp === undefined) return [[field, to]];
          sought.add(name);
          return [[name, 'looked up']];
        });
        for (const { body, operation } of rig.cloud.calls.all()) {
          // Tags and ports have others' words in them: what is written rests on what is read right before.
          if (/^(?:GET|PUT \/ports)|\/tags$/u.test(operation)) continue;
          printed.push(operation);
          assert.equal(fields.get('request.method'), JSON.stringify(operation.split(' ')[0]), action.summary);
          for (const [kind, sent] of Object.entries((body ?? {}) as Record<string, Record<string, unknown>>)) {
            const of = Object.entries(sent).map(([name, value]) => [
              `request.body.${kind}.${name}`,
              sought.has(`request.body.${kind}.${name}`) ? 'looked up' : JSON.stringify(value),
            ]);
            assert.deepEqual(Object.fromEntries(said), Object.fromEntries(of), action.summary);
          }
        }
      }
      await rig.clock.sleep(1_000);
    }
  }
  for (const one of ['POST /loadbalancers', 'POST /floatingips', 'POST /security-group-rules', 'DELETE /loadbalancers'])
    assert.ok(
      printed.some((operation) => operation.startsWith(one)),
      `no ${one}: ${printed.join(', ')}`,
    );
});
