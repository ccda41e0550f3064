import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { BackEnd, LoadBalancerService } from '@outrigger/cloud-provider';
import * as fc from 'fast-check';
import { annotationTable, type AnnotationKey, type AnnotationRow } from './annotation-table.ts';
import { desiredTree, type DesiredTreeInput } from './desired-tree-of.ts';
import { octaviaRefuses } from './octavia-rules.suite.ts';
import { annotated, backEndOf, configOf, idOf, portOf, serviceOf } from './tree-inputs.suite.ts';

const REF = `https://barbican.example/v1/secrets/${idOf('tls')}`;
const rows: readonly (readonly [string, AnnotationRow])[] = Object.entries(annotationTable);

const seldom = <Value>(arbitrary: fc.Arbitrary<Value>): fc.Arbitrary<Value | undefined> =>
  fc.oneof({ arbitrary: fc.constant(undefined), weight: 9 }, { arbitrary, weight: 1 });

/** Good values of one annotation, and sometimes a bad one. */
function valuesOf({ values, range, name }: AnnotationRow): fc.Arbitrary<string> {
  const good =
    name === annotationTable.tlsContainerRef.name
      ? fc.constantFrom(REF, '')
      : name === annotationTable.class.name
        ? fc.constantFrom('gold', '')
        : values === 'boolean'
          ? fc.constantFrom('true', 'false')
          : values === 'uuid'
            ? fc.constantFrom(idOf('a'), idOf('b'))
            : values === 'integer'
              ? fc.integer({ min: range?.[0] ?? 0, max: range?.[1] ?? 0 }).map(String)
              : values === 'string'
                ? fc.constantFrom('', 'x', 'public-*')
                : fc.constantFrom(...values);
  return fc.oneof(
    { arbitrary: good, weight: 30 },
    { arbitrary: fc.constantFrom('', '-2', '0', 'bad', '1e3'), weight: 1 },
  );
}

/** A few at once: with all of them at once nearly everything is refused. */
const annotations = fc
  .subarray([...rows], { maxLength: 5 })
  .chain((some) => fc.tuple(...some.map(([key, row]) => valuesOf(row).map((value) => [key, value] as const))))
  .map((entries) => annotated(Object.fromEntries(entries) as Partial<Record<AnnotationKey, string>>));

const ports = fc.uniqueArray(
  fc
    .tuple(fc.constantFrom(53, 80, 443), fc.constantFrom('TCP', 'TCP', 'TCP', 'UDP', 'SCTP'), fc.boolean())
    .map(([port, protocol, hasNodePort]) => portOf(port, protocol, hasNodePort ? undefined : 0)),
  { minLength: 1, maxLength: 3, selector: ({ port, protocol }) => `${port}/${protocol}` },
);

const families = fc.constantFrom<Pick<LoadBalancerService, 'ipFamilies' | 'ipFamilyPolicy'>>(
  { ipFamilies: ['IPv4'], ipFamilyPolicy: 'SingleStack' },
  { ipFamilies: ['IPv6'], ipFamilyPolicy: 'SingleStack' },
  { ipFamilies: ['IPv4', 'IPv6'], ipFamilyPolicy: 'PreferDualStack' },
  { ipFamilies: ['IPv6', 'IPv4'], ipFamilyPolicy: 'RequireDualStack' },
);

const service: fc.Arbitrary<LoadBalancerService> = fc
  .record({
    annotations,
    ports,
    families,
    local: fc.boolean(),
    sticky: fc.boolean(),
    sourceRanges: fc.oneof(
      fc.constant([]),
      fc.subarray(['10.0.0.0/8', '10.1.2.3/8', 'fd00::/8', '192.0.2.0/24'], { minLength: 1 }),
    ),
    requestedIP: seldom(fc.constantFrom('192.0.2.7', 'fd00::7', '2001:db8:0::7')),
  })
  .map(({ families, local, sticky, ...rest }) =>
    serviceOf({
      ...rest,
      ...families,
      externalTrafficPolicy: local ? 'Local' : 'Cluster',
      ...(local && { healthCheckNodePort: 32_000 }),
      ...(sticky && { clientIPAffinitySeconds: 10_800 }),
    }),
  );

/** Some have addresses of one family, some share one, some have none. */
const backEnds: fc.Arbitrary<readonly BackEnd[]> = fc.uniqueArray(
  fc
    .tuple(
      fc.integer({ min: 1, max: 9 }),
      fc.subarray(['10.0.0.1', '10.0.0.2', 'external:192.0.2.9', 'fd00::1', 'fd00::2']),
    )
    .map(([number, addresses]) => backEndOf(`node-${number}`, addresses)),
  { maxLength: 5, selector: ({ node }) => node.name },
);

const cloud = fc.record({
  version: fc.oneof(fc.integer({ min: 5, max: 30 }), fc.constant(26)).map((minor) => `2.${minor}`),
  lbProvider: fc.constantFrom('amphora', 'amphora', 'ovn', 'f5'),
  manageSecurityGroups: fc.boolean(),
  createMonitor: fc.boolean(),
  internalLb: fc.boolean(),
  tls: seldom(fc.constant(REF)),
  subnetId: seldom(fc.constant(idOf('subnet'))),
});

const input: fc.Arbitrary<DesiredTreeInput> = fc
  .record({ service, backEnds, cloud })
  .map(({ service, backEnds, cloud: { version, tls, lbProvider, ...rest } }) => ({
    service,
    backEnds,
    clusterName: 'kubernetes',
    apiVersion: version,
    config: configOf(
      {
        ...rest,
        lbProvider,
        lbMethod: lbProvider === 'ovn' ? 'SOURCE_IP_PORT' : 'ROUND_ROBIN',
        defaultTlsContainerRef: tls,
        floatingSubnet: 'pool-*',
      },
      { gold: { floatingNetworkId: idOf('gold'), floatingSubnetTags: 'a,b' } },
    ),
  }));

test('property: never a tree that Octavia refuses', () => {
  let trees = 0;
  fc.assert(
    fc.property(input, (one) => {
      const result = desiredTree(one);
      if (result.kind === 'refused') return;
      trees += 1;
      assert.deepEqual(octaviaRefuses(result.tree, one.apiVersion), []);
    }),
    { numRuns: 1000 },
  );
  // Were nearly all of them refused, this would show nothing.
  assert.ok(trees > 300, `${trees} trees of 1000`);
});

test('property: the same goal, whatever the order of nodes, annotations and source ranges', () => {
  const shuffled = input.chain((one) =>
    fc
      .tuple(
        fc.shuffledSubarray([...one.backEnds], { minLength: one.backEnds.length }),
        fc.shuffledSubarray([...one.service.sourceRanges], { minLength: one.service.sourceRanges.length }),
        fc.shuffledSubarray(Object.entries(one.service.annotations), {
          minLength: Object.keys(one.service.annotations).length,
        }),
      )
      .map(([backEnds, sourceRanges, entries]): readonly [DesiredTreeInput, DesiredTreeInput] => [
        one,
        { ...one, backEnds, service: { ...one.service, sourceRanges, annotations: Object.fromEntries(entries) } },
      ]),
  );
  fc.assert(
    fc.property(shuffled, ([a, b]) => {
      const [left, right] = [desiredTree(a), desiredTree(b)];
      if (left.kind === 'tree') assert.equal(JSON.stringify(right), JSON.stringify(left));
      else assert.equal(right.kind, 'refused');
    }),
  );
});

test('property: a refusal is one line of a code that waits for a change, and the rest of a goal is JSON', () => {
  fc.assert(
    fc.property(input, (one) => {
      const result = desiredTree(one);
      const refused = result.kind === 'refused' ? result.error : result.tree.loadBalancer.refusedAnew;
      if (refused) {
        assert.match(refused.code, /^(invalid|unsupported)$/);
        assert.match(refused.message, /^[^\n]{20,}$/);
      }
      if (result.kind === 'refused') return;
      const { refusedAnew: _, ...loadBalancer } = result.tree.loadBalancer;
      const tree = { ...result.tree, loadBalancer };
      assert.deepEqual(JSON.parse(JSON.stringify(tree)), tree);
    }),
  );
});
