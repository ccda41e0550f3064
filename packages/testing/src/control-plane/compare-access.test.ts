import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import type { AuditEntry } from './audit-log.ts';
import { compareAccess, type AccessComparison, type AccessObject, type AccessRule } from './compare-access.ts';

const account = { namespace: 'kube-system', name: 'program' };
const USER = 'system:serviceaccount:kube-system:program';

interface Call {
  readonly verb: string;
  readonly objectRef?: AuditEntry['objectRef'];
  readonly code?: number;
  readonly user?: string;
  readonly path?: string;
}

function entryOf({ code = 200, objectRef, path = '/', user = USER, verb }: Call, index: number): AuditEntry {
  return {
    auditID: String(index),
    stage: 'ResponseComplete',
    verb,
    requestURI: path,
    user: { username: user },
    ...(objectRef && { objectRef }),
    responseStatus: { code },
    requestReceivedTimestamp: '',
    stageTimestamp: '',
  };
}

function bound(rules: readonly AccessRule[], namespace?: string): readonly AccessObject[] {
  const [role, binding] = namespace === undefined ? ['ClusterRole', 'ClusterRoleBinding'] : ['Role', 'RoleBinding'];
  const metadata = { name: 'r', ...(namespace !== undefined && { namespace }) };
  return [
    { kind: role, metadata, rules },
    { kind: binding, metadata, roleRef: { kind: role, name: 'r' }, subjects: [{ kind: 'ServiceAccount', ...account }] },
  ];
}

function compare(objects: readonly AccessObject[], calls: readonly Call[], builtIn?: string[]): AccessComparison {
  return compareAccess({ objects, entries: calls.map(entryOf), account, ...(builtIn && { builtIn }) });
}

const nodes = (...verbs: string[]): AccessRule => ({ apiGroups: [''], resources: ['nodes'], verbs });
const node: AuditEntry['objectRef'] = { resource: 'nodes', name: 'a' };

test('what was granted and asked for is neither forbidden nor unused', () => {
  const result = compare(bound([nodes('get', 'patch')]), [
    { verb: 'get', objectRef: node },
    { verb: 'patch', objectRef: node },
  ]);
  assert.deepEqual(result, { forbidden: [], unused: [] });
});

test('who decided on a certificate has used the right to approve for the signer, which no request names', () => {
  const group = 'certificates.k8s.io';
  const rules: readonly AccessRule[] = [
    { apiGroups: [group], resources: ['certificatesigningrequests/approval'], verbs: ['update'] },
    { apiGroups: [group], resources: ['signers'], resourceNames: ['example.com/serving'], verbs: ['approve', 'sign'] },
  ];
  const objectRef = { apiGroup: group, resource: 'certificatesigningrequests', subresource: 'approval', name: 'a' };
  const sign = 'sign signers.certificates.k8s.io example.com/serving';
  assert.deepEqual(compare(bound(rules), [{ verb: 'update', objectRef }]), { forbidden: [], unused: [sign] });
  const approve = 'approve signers.certificates.k8s.io example.com/serving';
  const update = 'update certificatesigningrequests/approval.certificates.k8s.io';
  assert.deepEqual(compare(bound(rules), []).unused, [approve, sign, update]);
  assert.deepEqual(compare(bound(rules), [{ verb: 'update', objectRef, code: 403 }]).unused, [approve, sign, update]);
});

test('a verb that nobody asked for is unused', () => {
  const result = compare(bound([nodes('get', 'delete')]), [{ verb: 'get', objectRef: node }]);
  assert.deepEqual(result, { forbidden: [], unused: ['delete nodes'] });
});

test('a 403 is forbidden, whatever the rules say, and uses nothing', () => {
  const result = compare(bound([nodes('get')]), [{ verb: 'get', objectRef: node, code: 403 }]);
  assert.deepEqual(result, { forbidden: ['get nodes'], unused: ['get nodes'] });
});

test('what something else granted is forbidden: these rules do not suffice', () => {
  const result = compare(bound([nodes('get')]), [
    { verb: 'get', objectRef: node },
    { verb: 'patch', objectRef: { ...node, subresource: 'status' } },
  ]);
  assert.deepEqual(result, { forbidden: ['patch nodes/status'], unused: [] });
});

test('a rule for the object says nothing of its subresource, and the other way round', () => {
  const status = { ...node, subresource: 'status' };
  const result = compare(bound([nodes('patch')]), [{ verb: 'patch', objectRef: status }]);
  assert.deepEqual(result, { forbidden: ['patch nodes/status'], unused: ['patch nodes'] });
});

test('names, namespaces and groups count', () => {
  const rules = [
    { apiGroups: ['coordination.k8s.io'], resources: ['leases'], resourceNames: ['a', 'b'], verbs: ['update'] },
  ];
  const lease = (name: string, namespace: string, apiGroup = 'coordination.k8s.io'): Call => ({
    verb: 'update',
    objectRef: { resource: 'leases', apiGroup, name, namespace },
  });
  const result = compare(bound(rules, 'kube-system'), [
    lease('a', 'kube-system'),
    lease('c', 'kube-system'),
    lease('b', 'default'),
    lease('b', 'kube-system', 'other'),
  ]);
  assert.deepEqual(result.unused, ['update leases.coordination.k8s.io b in kube-system']);
  assert.deepEqual(result.forbidden, [
    'update leases.coordination.k8s.io in default',
    'update leases.coordination.k8s.io in kube-system',
    'update leases.other in kube-system',
  ]);
});

test('the calls of others count for nothing', () => {
  const result = compare(bound([nodes('get')]), [
    { verb: 'get', objectRef: node, user: 'system:serviceaccount:default:program' },
    { verb: 'patch', objectRef: node, user: 'admin', code: 403 },
  ]);
  assert.deepEqual(result, { forbidden: [], unused: ['get nodes'] });
});

test('requests about no object are forbidden only when they were refused', () => {
  const result = compare(
    [],
    [
      { verb: 'get', path: '/version' },
      { verb: 'get', path: '/metrics?x=1', code: 403 },
    ],
  );
  assert.deepEqual(result, { forbidden: ['get /metrics'], unused: [] });
});

test('of a role that is not ours one used rule is enough; none is too few', () => {
  const rules = [nodes('get', 'list'), nodes('watch')];
  assert.deepEqual(compare(bound(rules), [{ verb: 'list', objectRef: node }], ['r']).unused, []);
  assert.deepEqual(compare(bound(rules), [], ['r']).unused, ['all of ClusterRole r']);
});

test('bindings to other accounts grant nothing; a binding to a role that is not there is said', () => {
  const [role, binding] = bound([nodes('get')]) as [AccessObject, AccessObject];
  const others = { ...binding, subjects: [{ kind: 'ServiceAccount', namespace: 'default', name: 'program' }] };
  assert.deepEqual(compare([role, others], [{ verb: 'get', objectRef: node }]).forbidden, ['get nodes']);
  assert.throws(() => compare([binding], []), /ClusterRoleBinding r: no ClusterRole r/u);
});

test('one more grant never forbids, one more call never makes anything unused', () => {
  const verb = fc.constantFrom('get', 'list', 'patch');
  const resource = fc.constantFrom('nodes', 'services');
  const rule = fc.record({ apiGroups: fc.constant(['']), resources: fc.tuple(resource), verbs: fc.tuple(verb) });
  const call = fc.record({ verb, objectRef: fc.record({ resource }) });
  fc.assert(
    fc.property(fc.array(rule), rule, fc.array(call), call, (rules, moreRule, calls, moreCall) => {
      const before = compare(bound(rules), calls);
      const granted = compare(bound([...rules, moreRule]), calls);
      const asked = compare(bound(rules), [...calls, moreCall]);
      const within = (few: readonly string[], many: readonly string[]): boolean =>
        few.every((line) => many.includes(line));
      assert.ok(within(granted.forbidden, before.forbidden));
      assert.ok(within(asked.unused, before.unused));
      assert.ok(within(before.forbidden, asked.forbidden));
      assert.ok(within(before.unused, granted.unused));
    }),
  );
});
