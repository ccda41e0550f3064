import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ApiRule } from '@outrigger/kube';
import * as fc from 'fast-check';
import { defaultControllers } from '../controllers/controllers.ts';
import { programFlags } from '../options/program-options.ts';
import { mergeRules } from './merge-rules.ts';
import { planWork } from '../controllers/work-plan.ts';
import { programAccess, ruleOptionsOf, type ProgramAccess } from './program-rules.ts';

const EVERYTHING = ['--allocate-node-cidrs', '--cluster-cidr=10.0.0.0/16'];

async function accessWith(...flags: string[]): Promise<ProgramAccess> {
  const options = ruleOptionsOf(programFlags.parse(flags));
  return programAccess(options, await planWork({ environment: { workingDirectory: '/' }, options }));
}

async function linesWith(...flags: string[]): Promise<readonly string[]> {
  return linesOf((await accessWith(...flags)).rules);
}

/** `patch nodes/status`, `get leases/cloud-controller-manager in kube-system` … */
function linesOf(rules: readonly ApiRule[]): readonly string[] {
  const { cluster, namespaces } = mergeRules(rules);
  const scopes = [['', cluster] as const, ...namespaces];
  return scopes.flatMap(([namespace, merged]) =>
    merged
      .flatMap(({ resourceNames = [''], resources, verbs }) =>
        verbs.flatMap((verb) => resourceNames.map((name) => `${verb} ${resources.join()} ${name}`.trim())),
      )
      .map((line) => (namespace === '' ? line : `${line} in ${namespace}`)),
  );
}

test('all there is to grant, with every controller on', async () => {
  const { builtInRoles, rules } = await accessWith('--controllers=*,node-ipam-controller', ...EVERYTHING);
  assert.deepEqual(linesOf(rules), [
    'create events',
    'patch events',
    'get nodes',
    'list nodes',
    'watch nodes',
    'patch nodes',
    'delete nodes',
    'patch nodes/status',
    'list services',
    'watch services',
    'patch services/status',
    'get configmaps outrigger-routes in kube-system',
    'patch configmaps outrigger-routes in kube-system',
    'create configmaps in kube-system',
    'get namespaces kube-system in kube-system',
    'get leases cloud-controller-manager in kube-system',
    'watch leases cloud-controller-manager in kube-system',
    'update leases cloud-controller-manager in kube-system',
    'create leases in kube-system',
  ]);
  assert.deepEqual(builtInRoles, [
    { name: 'system:auth-delegator' },
    { name: 'extension-apiserver-authentication-reader', namespace: 'kube-system' },
  ]);
});

test('fewer controllers never get what more would not, and only who deletes nodes may', async () => {
  const names = defaultControllers.map(({ name }) => name);
  await fc.assert(
    fc.asyncProperty(fc.subarray(names, { minLength: 1 }), fc.constantFrom(...names), async (some, more) => {
      const few = await linesWith(`--controllers=${some.join()}`, ...EVERYTHING);
      const many = await linesWith(`--controllers=${[...some, more].join()}`, ...EVERYTHING);
      // What was granted in a namespace may be granted everywhere now.
      for (const line of few) assert.ok(many.includes(line) || many.includes(line.replace(/ in .*/u, '')), line);
      assert.equal(few.includes('delete nodes'), some.includes('cloud-node-lifecycle-controller'));
      for (const verb of ['create', 'update', 'patch', 'delete']) assert.ok(!few.includes(`${verb} services`));
    }),
  );
});

test('Events about nodes are granted in default only, unless there are Services to tell about', async () => {
  const lines = await linesWith('--controllers=cloud-node');
  assert.ok(lines.includes('create events in default'));
  assert.ok(!lines.includes('create events'));
});

test('a controller that would not start asks for nothing', async () => {
  const lines = await linesWith('--controllers=cloud-node-lifecycle,route');
  assert.ok(!lines.includes('patch nodes/status'));
});

test('ranges that come from the cloud need one write more', async () => {
  const flags = ['--controllers=node-ipam-controller', ...EVERYTHING];
  const ofRanges = await linesWith(...flags);
  const ofCloud = await linesWith(...flags, '--cidr-allocator-type=CloudAllocator');
  assert.deepEqual(
    ofCloud.filter((line) => !ofRanges.includes(line)),
    ['patch nodes/status'],
  );
});

test('flags that turn something off take its rules away', async () => {
  assert.ok(!(await linesWith('--leader-elect=false')).some((line) => line.includes('leases')));
  const { builtInRoles } = await accessWith('--secure-port=0', '--authentication-skip-lookup');
  assert.deepEqual(builtInRoles, []);
});

test('the Leases are those of the flags', async () => {
  const named = await linesWith(
    '--leader-elect-resource-name=l',
    '--leader-elect-resource-namespace=n',
    '--enable-leader-migration',
    '--controllers=cloud-node',
  );
  assert.ok(named.includes('update leases l in n'));
  assert.ok(named.includes('update leases cloud-provider-extraction-migration in n'));
  assert.ok(named.includes('create events in n'));
});

test('with accounts of their own, controllers write as these, and the program writes nothing but its Lease', async () => {
  const flags = ['--use-service-account-credentials', '--controllers=*,node-ipam-controller', ...EVERYTHING];
  const { accounts, rules } = await accessWith(...flags);
  assert.deepEqual(linesOf(rules), [
    'list nodes',
    'watch nodes',
    'list services',
    'watch services',
    'create events in kube-system',
    'get namespaces kube-system in kube-system',
    'create serviceaccounts in kube-system',
    'create serviceaccounts/token node-controller in kube-system',
    'create serviceaccounts/token orphan-controller in kube-system',
    'create serviceaccounts/token route-controller in kube-system',
    'create serviceaccounts/token service-controller in kube-system',
    'get leases cloud-controller-manager in kube-system',
    'watch leases cloud-controller-manager in kube-system',
    'update leases cloud-controller-manager in kube-system',
    'create leases in kube-system',
  ]);
  assert.deepEqual(linesOf(accounts.get('service-controller') ?? []), [
    'create events',
    'patch events',
    'list services',
    'patch services/status',
  ]);
  assert.deepEqual(linesOf(accounts.get('route-controller') ?? []), [
    'get nodes',
    'list nodes',
    'patch nodes/status',
    'create events in default',
    'patch events in default',
    'get configmaps outrigger-routes in kube-system',
    'patch configmaps outrigger-routes in kube-system',
    'create configmaps in kube-system',
  ]);
  assert.deepEqual([...accounts.keys()].toSorted(), [
    'node-controller',
    'orphan-controller',
    'route-controller',
    'service-controller',
  ]);
});

test('--config is refused: what the file says would be missing', async () => {
  await assert.rejects(accessWith('--config=x.yml'), /--config: the file is not read by this command/u);
});
