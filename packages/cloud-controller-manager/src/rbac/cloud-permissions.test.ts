import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { CloudPermissions } from '@outrigger/cloud-provider';
import { parseAllDocuments } from 'yaml';
import { runMain } from '../program/run-main.suite.ts';

const permissions: CloudPermissions = {
  instances: ['servers:read'],
  loadBalancers: ['balancers:*', 'addresses:*\nkind: Secret'],
  podRanges: ['ranges:write'],
  volumes: ['volumes:read'],
};

function provider(name: string, stated?: CloudPermissions): object {
  return {
    name,
    open: () => assert.fail('must not be opened'),
    close: () => Promise.resolve(),
    ...(stated && { permissions: stated }),
  };
}

/** What is printed: the comments, and what is in the documents. */
async function rbac(...args: string[]): Promise<{ readonly said: readonly string[]; readonly objects: unknown }> {
  const { code, stderr, stdout } = await runMain(['rbac', ...args], {
    builtInProviders: {
      green: async () => ({ default: () => provider('green', permissions) }),
      silent: async () => ({ default: () => provider('silent') }),
    },
    workingDirectory: '/nowhere',
  });
  assert.deepEqual([code, stderr], [0, '']);
  return {
    said: stdout.split('\n').filter((line) => line.startsWith('#')),
    objects: parseAllDocuments(stdout).map((document) => document.toJS() as unknown),
  };
}

test('what a cloud has to grant follows from the controllers that run, and changes nothing of the roles', async () => {
  const head = '# In the cloud green, these controllers need:';
  const [instances, balancers, ranges, volumes] = [
    '#   instances: servers:read',
    '#   loadBalancers: balancers:*; addresses:* kind: Secret',
    '#   podRanges: ranges:write',
    '#   volumes: volumes:read',
  ];
  for (const [flags, said] of [
    ['', [head, instances, balancers]],
    ['--controllers=cloud-node', [head, instances]],
    ['--controllers=route --allocate-node-cidrs --cluster-cidr=10.0.0.0/16', []],
    ['--controllers=pvlabel', [head, volumes]],
    ['--controllers=nodeipam --allocate-node-cidrs --cluster-cidr=10.0.0.0/16', []],
    ['--controllers=nodeipam --allocate-node-cidrs --cidr-allocator-type=CloudAllocator', [head, instances, ranges]],
    [
      '--controllers=cloud-node --webhooks=* --feature-gates=CloudControllerManagerWebhook=true',
      [head, instances, balancers, volumes],
    ],
  ] as const) {
    const args = flags.split(' ').filter((flag) => flag !== '');
    const without = await rbac(...args);
    const found = await rbac(...args, '--cloud-provider=green');
    assert.deepEqual(found.said, said, flags);
    assert.deepEqual(without.said, []);
    assert.deepEqual(found.objects, without.objects);
  }
});

test('of several clouds each says its own; one that is not here is said to be unknown', async () => {
  const { said } = await rbac('--controllers=cloud-node', '--cloud-provider=silent,./gone.mjs,green');
  assert.deepEqual(said, [
    '# What they need in the cloud is unknown: --cloud-provider=./gone.mjs: there is no file /nowhere/gone.mjs',
    '# In the cloud green, these controllers need:',
    '#   instances: servers:read',
  ]);
});
