/**
 * For tests: when a change of a node makes upstream look at load balancers again, as data: it is the same here. From
 * kubernetes/cloud-provider v0.36.3 `controllers/service/controller_test.go`.
 */

/** What a node is like where it is not as usual: Ready, not excluded, with a provider ID of ours. */
export interface Traits {
  readonly excluded?: boolean;
  /** `ToBeDeletedByClusterAutoscaler`. */
  readonly draining?: boolean;
  readonly otherTaint?: boolean;
  readonly otherLabel?: boolean;
  readonly ready?: 'False' | 'unset';
  readonly otherCondition?: 'True' | 'False';
  readonly providerID?: 'another' | 'none';
  readonly deleted?: boolean;
}

export interface Scenario {
  /** The function of upstream's table. */
  readonly source: 'individualPredicates' | 'compoundedPredicates';
  readonly name: string;
  readonly before: Traits;
  readonly after: Traits;
  /** Whether upstream looks again. */
  readonly upstream: boolean;
}

const ALONE = 'individualPredicates';
const TOGETHER = 'compoundedPredicates';

function row(
  source: Scenario['source'],
  name: string,
  [before, after]: readonly [Traits, Traits],
  upstream: boolean,
): Scenario {
  return { source, name, before, after, upstream };
}

/** The same trait beside others that stay. */
function beside(
  what: string,
  stays: Traits,
  rows: readonly (readonly [string, Traits, Traits, boolean])[],
): Scenario[] {
  return rows.map(([name, before, after, upstream]) =>
    row(
      TOGETHER,
      `${what}, ${name}`,
      [
        { ...stays, ...before },
        { ...stays, ...after },
      ],
      upstream,
    ),
  );
}

const excluding = [
  ['excluded from now on', {}, { excluded: true }, true],
  ['not excluded any more', { excluded: true }, {}, true],
] as const;
const draining = [
  ['drained from now on', {}, { draining: true }, false],
  ['not drained any more', { draining: true }, {}, false],
] as const;
const readying = [
  ['Ready from now on', { ready: 'False' }, {}, false],
  ['not Ready any more', {}, { ready: 'False' }, false],
] as const;
const identifying = [
  ['gets a provider ID', { providerID: 'none' }, {}, true],
  ['loses its provider ID', {}, { providerID: 'none' }, true],
  ['gets another provider ID', {}, { providerID: 'another' }, true],
] as const;

export const upstreamScenarios: readonly Scenario[] = [
  row(ALONE, 'nothing changed', [{}, {}], false),
  ...excluding.map(([name, before, after, upstream]) => row(ALONE, name, [before, after], upstream)),
  row(ALONE, 'stays excluded', [{ excluded: true }, { excluded: true }], false),
  row(ALONE, 'gets some taint', [{}, { otherTaint: true }], false),
  row(ALONE, 'loses some taint', [{ otherTaint: true }, {}], false),
  row(ALONE, 'gets some label', [{}, { otherLabel: true }], false),
  row(ALONE, 'loses some label', [{ otherLabel: true }, {}], false),
  row(ALONE, 'stays not Ready', [{ ready: 'False' }, { ready: 'False' }], false),
  row(ALONE, 'loses its condition, which was not Ready', [{ ready: 'False' }, { ready: 'unset' }], false),
  row(ALONE, 'gets its condition, which is not Ready', [{ ready: 'unset' }, { ready: 'False' }], false),
  row(ALONE, 'stays without the condition', [{ ready: 'unset' }, { ready: 'unset' }], false),
  row(
    ALONE,
    'not Ready, another condition turns True',
    [
      { ready: 'False', otherCondition: 'False' },
      { ready: 'False', otherCondition: 'True' },
    ],
    false,
  ),
  row(
    ALONE,
    'not Ready, another condition turns False',
    [
      { ready: 'False', otherCondition: 'True' },
      { ready: 'False', otherCondition: 'False' },
    ],
    false,
  ),
  row(ALONE, 'Ready, another condition turns True', [{ otherCondition: 'False' }, { otherCondition: 'True' }], false),
  row(ALONE, 'Ready, another condition turns False', [{ otherCondition: 'True' }, { otherCondition: 'False' }], false),
  row(ALONE, 'is being deleted', [{}, { deleted: true }], false),
  ...identifying.map(([name, before, after, upstream]) => row(ALONE, name, [before, after], upstream)),
  ...beside('drained', { draining: true }, [...excluding, ...identifying, ...readying]),
  ...beside('excluded', { excluded: true }, [...draining, ...readying, ...identifying]),
  ...beside('not Ready', { ready: 'False' }, [...draining, ...excluding, ...identifying]),
  ...beside('without provider ID', { providerID: 'none' }, [...excluding, ...readying, ...draining]),
];
