import assert from 'node:assert/strict';
import { test } from 'node:test';
import { provenanceOf } from './provenance.ts';
import { whyNotPublished } from './publish.ts';
import { vexOf } from './vex.ts';

const commit = 'a'.repeat(40);
const sha256 = 'b'.repeat(64);

test('the provenance names every artifact, the commit and what it was built with', () => {
  const text = provenanceOf({
    version: '1.2.3',
    commit,
    subjects: [{ name: 'npm/x.tgz', sha256 }],
    materials: [{ name: 'package-lock.json', sha256 }],
  });
  const statement = JSON.parse(text) as Record<string, unknown> & { predicate: { buildDefinition: unknown } };
  assert.equal(statement['_type'], 'https://in-toto.io/Statement/v1');
  assert.equal(statement['predicateType'], 'https://slsa.dev/provenance/v1');
  assert.deepEqual(statement['subject'], [{ name: 'npm/x.tgz', digest: { sha256 } }]);
  assert.deepEqual(statement.predicate.buildDefinition, {
    buildType: 'https://outrigger.dev/build-types/make-release/v1',
    externalParameters: { version: '1.2.3', commit },
    internalParameters: {},
    resolvedDependencies: [
      { name: 'source', digest: { gitCommit: commit } },
      { name: 'package-lock.json', digest: { sha256 } },
    ],
  });
});

test('an accepted advisory is not affecting, with its justification; after its date it is looked at again', () => {
  const accepted = {
    id: 'GHSA-aaaa-bbbb-cccc',
    reason: 'only reached by a proxy, which is never made',
    justification: 'vulnerable_code_not_in_execute_path',
    until: '2026-12-31',
  } as const;
  const unknown = { id: 'unknown', reason: 'the mirror has no audits', until: '2999-01-01' };
  const at = (date: string): { statements: readonly object[] } =>
    JSON.parse(
      vexOf({
        version: '1.2.3',
        epoch: Date.parse(date) / 1000,
        products: ['pkg:npm/%40outrigger/kube@1.2.3'],
        acceptances: [unknown, accepted],
      }) ?? '',
    ) as never;
  const statement = {
    vulnerability: { name: 'GHSA-aaaa-bbbb-cccc' },
    products: [{ '@id': 'pkg:npm/%40outrigger/kube@1.2.3' }],
  };
  assert.deepEqual(at('2026-12-31T12:00:00Z'), {
    '@context': 'https://openvex.dev/ns/v0.2.0',
    '@id': 'https://outrigger.dev/vex/1.2.3',
    author: 'Outrigger',
    timestamp: '2026-12-31T12:00:00.000Z',
    version: 1,
    statements: [
      {
        ...statement,
        status: 'not_affected',
        justification: 'vulnerable_code_not_in_execute_path',
        impact_statement: 'only reached by a proxy, which is never made',
      },
    ],
  });
  assert.deepEqual(at('2027-01-01').statements, [
    {
      ...statement,
      status: 'under_investigation',
      status_notes: 'accepted until 2026-12-31, and to be looked at again',
    },
  ]);
  assert.equal(vexOf({ version: '1.2.3', epoch: 0, products: [], acceptances: [unknown] }), undefined);
});

test('a release goes out from a clean, prepared, tagged commit, with a key; else each thing that is missing is said', () => {
  const ready = {
    status: '',
    tags: ['v1.2.3'],
    version: '1.2.3',
    signed: true,
    patch: '',
    advisories: { unknown: [], refused: [] },
  };
  assert.deepEqual(whyNotPublished(ready), []);
  for (const [change, said] of [
    [{ status: ' M file' }, /not clean/u],
    [{ tags: ['v1.2.4'] }, /no tag v1\.2\.3/u],
    [{ signed: false }, /SIGNING_KEY/u],
    [{ patch: 'diff' }, /apply release\.patch/u],
  ] as const) {
    const [why = '', ...others] = whyNotPublished({ ...ready, ...change });
    assert.match(why, said);
    assert.deepEqual(others, []);
  }
});
