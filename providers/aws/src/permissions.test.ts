import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { services } from '../generate/operations.ts';
import { permissions } from './permissions.ts';

/** Where each capability is; `cluster` finds the own network for those that need it. */
const ROOMS: Readonly<Record<string, readonly string[]>> = {
  instances: ['instances', 'cluster'],
  loadBalancers: ['load-balancer', 'cluster'],
  routes: ['routes', 'cluster'],
  volumes: ['volumes'],
  nodeTags: ['node-tags'],
};

/** What is needed beside the operation itself. */
const IMPLIED: readonly (readonly [operation: string, action: string])[] = [
  // The first load balancer of an account makes the role of the service.
  ['elasticloadbalancing:CreateLoadBalancer', 'iam:CreateServiceLinkedRole'],
];

/** Actions of the operations that the sources of a folder name. */
function actionsIn(room: string): readonly string[] {
  const root = new URL(`${room}/`, import.meta.url);
  const files = readdirSync(root, { recursive: true, encoding: 'utf8' }).filter(
    (file) => file.endsWith('.ts') && !/\.(?:test|suite)\.ts$/u.test(file),
  );
  const named = new Set(
    files.flatMap((file) => readFileSync(new URL(file, root), 'utf8').match(/(?<=')[A-Z]\w+(?=')/gu) ?? []),
  );
  return services.flatMap(({ name, operations }) => {
    // Whoever has credentials may ask STS who that is; roles are assumed by their own policies.
    if (name === 'sts') return [];
    const service = name === 'ec2' ? 'ec2' : 'elasticloadbalancing';
    return operations.filter((operation) => named.has(operation)).map((operation) => `${service}:${operation}`);
  });
}

test('each capability needs the actions of the operations that its code names, and no others', () => {
  for (const [capability, listed = []] of Object.entries(permissions)) {
    const named = new Set((ROOMS[capability] ?? []).flatMap(actionsIn));
    const implied = IMPLIED.flatMap(([operation, action]) => (named.has(operation) ? [action] : []));
    const actions = [...named, ...implied].toSorted((a, b) => (a < b ? -1 : 1));
    assert.deepEqual(listed, actions, capability);
  }
});
