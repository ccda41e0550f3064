import assert from 'node:assert/strict';
import { test } from 'node:test';
import { resources } from '@outrigger/kube';
import { rbacObjects } from './rbac-objects.ts';
import type { ProgramAccess } from './program-rules.ts';

const access: ProgramAccess = {
  rules: [{ resource: resources.nodes, verbs: ['list'] }],
  accounts: new Map([['node-controller', [{ resource: resources.nodes, verbs: ['patch'] }]]]),
  builtInRoles: [{ name: 'system:auth-delegator' }],
};

/** `name → subject` of each binding. */
function bindings(user?: string): Readonly<Record<string, string>> {
  const objects = rbacObjects(access, { namespace: 'ns', name: 'program' }, user);
  return Object.fromEntries(
    objects.flatMap(({ metadata, subjects = [] }) =>
      subjects.map((one) => [
        metadata.name,
        one.kind === 'User' ? `${one.apiGroup} user ${one.name}` : `${one.namespace}/${one.name}`,
      ]),
    ),
  );
}

test('roles are bound to the account of the program, and those of controllers to theirs', () => {
  assert.deepEqual(bindings(), {
    program: 'ns/program',
    'program:auth-delegator': 'ns/program',
    'program:node-controller': 'kube-system/node-controller',
  });
});

test('a user takes the place of the account of the program alone', () => {
  assert.deepEqual(bindings('static'), {
    program: 'rbac.authorization.k8s.io user static',
    'program:auth-delegator': 'rbac.authorization.k8s.io user static',
    'program:node-controller': 'kube-system/node-controller',
  });
});
