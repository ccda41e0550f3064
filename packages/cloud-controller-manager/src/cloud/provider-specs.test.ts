import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseCloudConfigs, parseProviderSpecs } from './provider-specs.ts';

test('providers are named by a comma-separated list, and given names by an equals sign', () => {
  for (const [flag, specs] of [
    ['memory', [['memory', undefined]]],
    [
      'memory,@acme/cloud',
      [
        ['memory', undefined],
        ['@acme/cloud', undefined],
      ],
    ],
    [
      'north=memory,south=./clouds/a.ts',
      [
        ['memory', 'north'],
        ['./clouds/a.ts', 'south'],
      ],
    ],
    ['./a=b.ts', [['./a=b.ts', undefined]]],
  ] as const) {
    assert.deepEqual(
      parseProviderSpecs(flag).map(({ name, spec }) => [spec, name]),
      specs,
    );
  }
  for (const flag of ['a,', ',', 'a,,b', 'north=']) {
    assert.throws(() => parseProviderSpecs(flag), /a provider is missing between the commas/u, flag);
  }
  assert.throws(() => parseProviderSpecs('memory,external'), /is for the kubelet/u);
});

test('one provider has the whole value as its file; several have one each, by name', () => {
  const files = (flag: string, ...names: string[]): object => Object.fromEntries(parseCloudConfigs(flag, names));
  assert.deepEqual(files('', 'a'), {});
  assert.deepEqual(files('cloud.json', 'a'), { a: 'cloud.json' });
  assert.deepEqual(files('x=y,z.json', 'a'), { a: 'x=y,z.json' });
  assert.deepEqual(files('a=cloud.json', 'a'), { a: 'cloud.json' });
  assert.deepEqual(files('', 'a', 'b'), {});
  assert.deepEqual(files('b=b.json', 'a', 'b'), { b: 'b.json' });
  assert.deepEqual(files('b=b.json,a=x=1.json', 'a', 'b'), { a: 'x=1.json', b: 'b.json' });
  for (const flag of ['cloud.json', 'c=c.json', 'a=', 'a=a.json,']) {
    assert.throws(() => files(flag, 'a', 'b'), /each file must be given as <provider>=<file>/u, flag);
  }
  assert.throws(() => files('a=1,a=2', 'a', 'b'), /two files for the provider a/u);
});
