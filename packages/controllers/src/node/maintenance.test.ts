import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Instance } from '@outrigger/cloud-provider';
import type { Node, NodeCondition } from '@outrigger/kube';
import * as fc from 'fast-check';
import { bringNode } from './bring-node.suite.ts';
import type { NodePlan } from './actions.ts';
import { planNode } from './plan.ts';

const now = Date.UTC(2026, 0, 1);
const later = Date.UTC(2026, 0, 2, 12);
const PLANNED = { state: 'planned', notBefore: later, reason: 'the host is disabled' } as const;
const IN_PROGRESS = { state: 'in-progress' } as const;

function nodeOf(conditions: readonly NodeCondition[] = []): Node {
  return {
    metadata: { name: 'node0', uid: 'u', labels: {} },
    spec: { providerID: 'fake://1', taints: [] },
    status: { conditions: [{ type: 'Ready', status: 'True' }, ...conditions] },
  };
}

function plan(node: Node, maintenance: Instance['maintenance'], at = now, isOn = true): NodePlan {
  return planNode({
    node,
    answer: { asOf: 0, result: { kind: 'found', instance: { providerID: 'fake://1', state: 'running', maintenance } } },
    now: at,
    options: { providerName: 'fake', runsRoutes: false, nodeSyncedEvents: false, maintenanceConditions: isOn },
  });
}

/** The node after the plan, and what was told. */
async function bring(
  node: Node,
  maintenance: Instance['maintenance'],
  at = now,
): Promise<{ readonly node: Node; readonly told: readonly string[]; readonly writes: number }> {
  const planned = plan(node, maintenance, at);
  const told =
    planned.kind === 'act' ? planned.actions.flatMap((one) => (one.kind === 'event' ? [one.note.reason] : [])) : [];
  const brought = await bringNode(node, planned);
  return { node: brought.node, told, writes: brought.api.writes.length };
}

const own = ({ status }: Node): readonly string[] =>
  (status?.conditions ?? [])
    .filter(({ type }) => type.startsWith('Maintenance'))
    .map((one) => `${one.type}=${one.status}`);

test('what the cloud plans, does and has ended is shown by one write each, and told', async () => {
  const planned = await bring(nodeOf(), PLANNED);
  assert.deepEqual(
    [own(planned.node), planned.told, planned.writes],
    [['MaintenancePlanned=True'], ['MaintenancePlanned'], 1],
  );
  const condition = planned.node.status?.conditions?.find(({ type }) => type === 'MaintenancePlanned');
  assert.deepEqual(condition, {
    type: 'MaintenancePlanned',
    status: 'True',
    reason: 'ReportedByCloud',
    message:
      'The cloud says that maintenance of its machine is planned, not before 2026-01-02T12:00:00Z: the host is disabled.',
    lastHeartbeatTime: '2026-01-01T00:00:00Z',
    lastTransitionTime: '2026-01-01T00:00:00Z',
  });

  const begun = await bring(planned.node, IN_PROGRESS, later);
  assert.deepEqual([...own(begun.node)].toSorted(), ['MaintenanceInProgress=True', 'MaintenancePlanned=False']);
  assert.deepEqual([...begun.told].toSorted(), ['MaintenanceInProgress', 'MaintenancePlannedOver']);
  assert.equal(begun.writes, 1);

  const ended = await bring(begun.node, undefined, later);
  assert.deepEqual([...own(ended.node)].toSorted(), ['MaintenanceInProgress=False', 'MaintenancePlanned=False']);
  assert.deepEqual([ended.told, ended.writes], [['MaintenanceInProgressOver'], 1]);
  assert.deepEqual(plan(ended.node, undefined), { kind: 'nothing', reason: 'up-to-date' });
});

test('a postponed maintenance is told anew, and its transition stays where it was', async () => {
  const { node } = await bring(nodeOf(), PLANNED);
  const postponed = await bring(node, { ...PLANNED, notBefore: later + 3_600_000 }, now + 60_000);
  const condition = postponed.node.status?.conditions?.find(({ type }) => type === 'MaintenancePlanned');
  assert.match(condition?.message ?? '', /not before 2026-01-02T13:00:00Z/u);
  assert.deepEqual(
    [condition?.lastTransitionTime, condition?.lastHeartbeatTime],
    ['2026-01-01T00:00:00Z', '2026-01-01T00:01:00Z'],
  );
});

test('without the flag, and where nothing was ever known, nothing is written', () => {
  assert.deepEqual(plan(nodeOf(), PLANNED, now, false), { kind: 'nothing', reason: 'up-to-date' });
  assert.deepEqual(plan(nodeOf(), undefined), { kind: 'nothing', reason: 'up-to-date' });
});

test('a condition of another maintenance controller is never written, and a person is told when the two disagree', () => {
  for (const status of ['True', 'False', 'Unknown']) {
    const node = nodeOf([{ type: 'MaintenancePlanned', status, reason: 'NightShift' }]);
    assert.deepEqual(plan(node, undefined), { kind: 'nothing', reason: 'up-to-date' }, status);
    const planned = plan(node, PLANNED);
    if (status === 'True') assert.deepEqual(planned, { kind: 'nothing', reason: 'up-to-date' });
    else {
      assert.ok(planned.kind === 'act');
      assert.deepEqual(
        planned.actions.map(({ kind }) => kind),
        ['event'],
      );
    }
  }
});

test('whatever the cloud says and whatever the node has: two conditions of our own, no taint, no drain, and then rest', async () => {
  const maintenance = fc.option(
    fc.record(
      {
        state: fc.constantFrom('planned' as const, 'in-progress' as const),
        notBefore: fc.option(fc.integer({ min: 0, max: 4e12 }), { nil: undefined }),
        reason: fc.option(fc.string({ maxLength: 400 }), { nil: undefined }),
      },
      { noNullPrototype: true },
    ),
    { nil: undefined },
  );
  const condition = fc.record(
    {
      type: fc.constantFrom('MaintenancePlanned', 'MaintenanceInProgress', 'DrainInProgress', 'Drained'),
      status: fc.constantFrom('True', 'False', 'Unknown'),
      reason: fc.constantFrom('ReportedByCloud', 'NoLongerReportedByCloud', 'Other', ''),
    },
    { noNullPrototype: true },
  );
  const conditions = fc.uniqueArray(condition, { selector: ({ type }) => type });
  await fc.assert(
    fc.asyncProperty(maintenance, conditions, async (said, had) => {
      const node = nodeOf(had);
      const planned = plan(node, said);
      const { node: after } = await bringNode(node, planned);
      assert.deepEqual(after.spec, node.spec);
      const isOurs = ({ reason, type }: NodeCondition): boolean =>
        type.startsWith('Maintenance') && (reason ?? '').endsWith('ReportedByCloud');
      const others = (one: Node): unknown[] => (one.status?.conditions ?? []).filter((entry) => !isOurs(entry));
      assert.deepEqual(others(after), others(node));
      const again = plan(after, said);
      assert.ok(
        again.kind === 'nothing' || (again.kind === 'act' && again.actions.every(({ kind }) => kind === 'event')),
      );
    }),
    { numRuns: 500, seed: 20_261_122 },
  );
});
