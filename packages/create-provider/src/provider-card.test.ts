import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readCard } from './provider-card.ts';

const LEAST = 'name: acme\nmaturity: beta\nmaintainers: [acme-team]\n';

test('a card of the least keys has defaults for the others', () => {
  assert.deepEqual(readCard(LEAST), {
    name: 'acme',
    title: 'acme',
    maturity: 'beta',
    maintainers: ['acme-team'],
    features: [],
    additional: [],
    experience: [],
    places: {},
  });
  assert.equal(readCard(`${LEAST}repository: https://example.com/acme/\n`).repository, 'https://example.com/acme');
});

test('what is wrong is named by its key', () => {
  for (const [text, message] of [
    ['[]', /not a map/u],
    ['maturity: alpha\nmaintainers: [a]', /^name must/u],
    [LEAST.replace('beta', 'ripe'), /^maturity must be one of alpha, beta, stable, deprecated$/u],
    [LEAST.replace('[acme-team]', '[]'), /^maintainers must name/u],
    [`${LEAST}features: nodes\n`, /^features must be a list/u],
    [`${LEAST}repository: example.com/acme\n`, /^repository: "example\.com\/acme" is no address/u],
    [`${LEAST}experience: ['javascript:alert(1)']\n`, /^experience: "javascript:alert\(1\)" is no address/u],
    [`${LEAST}conformance: ../../secret.json\n`, /^conformance must be a file of the repository/u],
    [`${LEAST}conformance: 'javascript:alert(1)'\n`, /^conformance must be a file of the repository/u],
    [`${LEAST}conformance: [a]\n`, /^conformance must be a text$/u],
    [`${LEAST}places: [a]\n`, /^places must be a map/u],
    [`${LEAST}name: other\n`, /^Map keys must be unique/u],
    [`${LEAST}? {a: 1}\n: 1\n`, /^there is no key \[object Map\]; the keys/u],
    [`${LEAST}#${' '.repeat(20_000)}\n`, /^it has more than 20000 characters: shorten it$/u],
    [`${LEAST}experiences: []\n`, /^there is no key experiences; the keys are name,/u],
  ] as const) {
    assert.throws(
      () => readCard(text),
      (error: Error) => message.test(error.message),
      text,
    );
  }
});

test('1 KiB of YAML whose keys are mappings costs little', () => {
  const { user, system } = process.cpuUsage();
  assert.throws(() => readCard(`${'{['.repeat(256)}${']}'.repeat(256)}`), /^Error: there is no key \[object Map\]/u);
  const used = process.cpuUsage();
  const ms = (used.user - user + used.system - system) / 1_000;
  assert.ok(ms < 1_000, `${ms} ms`);
});
