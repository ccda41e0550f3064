import assert from 'node:assert/strict';
import { test } from 'node:test';
import { resources, type ApiRule, type ApiVerb } from '@outrigger/kube';
import * as fc from 'fast-check';
import { mergeRules } from './merge-rules.ts';

interface Question {
  readonly plural: string;
  readonly verb: ApiVerb;
  readonly namespace: string;
  readonly name: string;
}

const kinds = [resources.nodes, resources.services, resources.leases];
const verbs: readonly ApiVerb[] = ['get', 'update', 'patch'];
const namespaces = ['a', 'b'];
const names = ['x', 'y'];

const questions: readonly Question[] = kinds.flatMap(({ plural }) =>
  verbs.flatMap((verb) => namespaces.flatMap((namespace) => names.map((name) => ({ plural, verb, namespace, name })))),
);

function isAsked(rule: ApiRule, { name, namespace, plural, verb }: Question): boolean {
  return (
    rule.resource.plural === plural &&
    rule.verbs.includes(verb) &&
    (rule.namespace === undefined || rule.namespace === namespace) &&
    (rule.names === undefined || rule.names.includes(name))
  );
}

function isGranted({ cluster, namespaces }: ReturnType<typeof mergeRules>, question: Question): boolean {
  const { name, namespace, plural, verb } = question;
  return [...cluster, ...(namespaces.get(namespace) ?? [])].some(
    ({ resourceNames, resources, verbs }) =>
      resources.includes(plural) && verbs.includes(verb) && (resourceNames?.includes(name) ?? true),
  );
}

const rule: fc.Arbitrary<ApiRule> = fc.record(
  {
    resource: fc.constantFrom(...kinds),
    verbs: fc.uniqueArray(fc.constantFrom(...verbs), { minLength: 1 }),
    namespace: fc.constantFrom(...namespaces),
    names: fc.uniqueArray(fc.constantFrom(...names), { minLength: 1 }),
  },
  { requiredKeys: ['resource', 'verbs'] },
);

test('merged rules grant what was asked for: no more, no less', () => {
  fc.assert(
    fc.property(fc.array(rule, { maxLength: 12 }), (rules) => {
      const merged = mergeRules(rules);
      for (const question of questions) {
        const asked = rules.some((one) => isAsked(one, question));
        assert.equal(isGranted(merged, question), asked, JSON.stringify(question));
      }
    }),
  );
});

test('the order in which parts ask does not show', () => {
  fc.assert(
    fc.property(fc.array(rule, { maxLength: 8 }), (rules) => {
      assert.deepEqual(mergeRules(rules.toReversed()), mergeRules(rules));
    }),
  );
});

test('what is granted in the whole cluster is not said again in a namespace', () => {
  const events = { resource: resources.coreEvents, verbs: ['create', 'patch'] as const };
  assert.deepEqual(mergeRules([events, { ...events, namespace: 'default' }]), {
    cluster: [{ apiGroups: [''], resources: ['events'], verbs: ['create', 'patch'] }],
    namespaces: new Map(),
  });
});
