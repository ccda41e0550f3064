import assert from 'node:assert/strict';
import { test } from 'node:test';
import { bundledPackages, type LockFile } from './bundled-packages.ts';

const lock: LockFile = {
  packages: {
    '': {},
    'packages/kube': { version: '0.1.0', dependencies: { a: '1.0.0' } },
    'node_modules/a': {
      version: '1.0.0',
      license: 'MIT',
      integrity: 'sha512-AAAA',
      dependencies: { b: '^2.0.0', '@c/d': '1.0.0', unused: '1' },
    },
    'node_modules/a/node_modules/b': {
      version: '2.0.0',
      license: 'ISC',
      integrity: 'sha512-AAAA',
      dependencies: { '@c/d': '1.0.0' },
    },
    'node_modules/b': { version: '1.0.0', license: 'MIT', integrity: 'sha512-AAAA' },
    'node_modules/@c/d': { version: '3.0.0', license: '(MIT OR Apache-2.0)', integrity: 'sha512-AAAA' },
    'node_modules/unused': { version: '1.0.0', license: 'MIT', integrity: 'sha512-AAAA' },
    'node_modules/nameless': { version: '1.0.0' },
  },
};

test('each package that a file of is in the bundle, once, with what it depends on', () => {
  const inputs = [
    'packages/kube/src/index.ts',
    'node_modules/a/index.js',
    'node_modules/a/lib/more.js',
    'node_modules/a/node_modules/b/index.js',
    'node_modules/@c/d/index.mjs',
  ];
  const b = 'node_modules/a/node_modules/b';
  assert.deepEqual(bundledPackages(inputs, lock), [
    {
      path: 'node_modules/@c/d',
      name: '@c/d',
      version: '3.0.0',
      license: '(MIT OR Apache-2.0)',
      integrity: 'sha512-AAAA',
      dependsOn: [],
      direct: false,
    },
    {
      path: 'node_modules/a',
      name: 'a',
      version: '1.0.0',
      license: 'MIT',
      integrity: 'sha512-AAAA',
      dependsOn: ['node_modules/@c/d', b],
      direct: true,
    },
    {
      path: b,
      name: 'b',
      version: '2.0.0',
      license: 'ISC',
      integrity: 'sha512-AAAA',
      dependsOn: ['node_modules/@c/d'],
      direct: false,
    },
  ]);
});

test('a package that nothing is known of is refused', () => {
  for (const name of ['nameless', 'stranger']) {
    assert.throws(
      () => bundledPackages([`node_modules/${name}/index.js`], lock),
      new RegExp(`^Error: node_modules/${name} `, 'u'),
    );
  }
});
