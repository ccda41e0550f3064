/** The policy of docs/iam.md against a fake that refuses all that it does not allow. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { ClusterLife, stages, type Stage } from './cluster-life.suite.ts';
import { permissions } from './permissions.ts';

/** Needed beside an operation, of a service that the fake does not have. */
const NOT_OF_THE_FAKE: readonly string[] = ['iam:CreateServiceLinkedRole'];

interface Result {
  /** Of the stage, or why it failed. */
  readonly outcome: string;
  readonly hasFailed: boolean;
  /** Operations without their service: those of both ELB APIs have the same actions. */
  readonly asked: ReadonlySet<string>;
}

/** The stage, with nothing but these actions. */
async function live(stage: Stage, allowed: readonly string[]): Promise<Result> {
  const life = new ClusterLife();
  life.aws.allow(allowed);
  let [outcome, hasFailed]: [unknown, boolean] = [undefined, false];
  try {
    await life.start();
    outcome = await stage(life);
    assert.deepEqual(life.aws.takeProblems(), []);
  } catch (error) {
    [outcome, hasFailed] = [(error as Error).message, true];
  } finally {
    life.end();
  }
  const asked = new Set(Object.keys(life.aws.calls.counts()).map((operation) => operation.split(':')[1] ?? ''));
  return { outcome: JSON.stringify(outcome), hasFailed, asked };
}

test('the policy of the documentation has the actions of all capabilities', () => {
  const page = readFileSync(new URL('../docs/iam.md', import.meta.url), 'utf8');
  const [, json = ''] = /```json\n([\s\S]+?)```/u.exec(page) ?? [];
  const policy = JSON.parse(json) as { readonly Statement: readonly [{ readonly Action: readonly string[] }] };
  assert.deepEqual(new Set(policy.Statement[0].Action), new Set(Object.values(permissions).flat()));
});

for (const [capability, actions = []] of Object.entries(permissions)) {
  test(`${capability}: its own actions suffice, and without any one of them something fails`, async () => {
    const run = stages[capability] ?? assert.fail(`no stage of ${capability}`);
    const whole = await Promise.all(run.map((stage) => live(stage, actions)));
    for (const { hasFailed, outcome } of whole) assert.ok(!hasFailed, outcome);
    const isNeeded = async (action: string): Promise<boolean> => {
      const others = actions.filter((one) => one !== action);
      for (const [i, stage] of run.entries()) {
        const { asked, outcome } = whole[i] ?? assert.fail();
        // Tags of what is made are an action of their own, and no operation.
        if (!asked.has(action.split(':')[1] ?? '') && !action.endsWith('Tags')) continue;
        if ((await live(stage, others)).outcome !== outcome) return true;
      }
      return false;
    };
    const idle: string[] = [];
    for (const action of actions) {
      if (!NOT_OF_THE_FAKE.includes(action) && !(await isNeeded(action))) idle.push(action);
    }
    assert.deepEqual(idle, [], 'actions without which all goes well');
  });
}
