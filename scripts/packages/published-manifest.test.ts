import assert from 'node:assert/strict';
import { test } from 'node:test';
import { publishedManifest, type Manifest } from './published-manifest.ts';
import { workspacePackages } from './workspace-packages.ts';

const KUBE: Manifest = {
  name: '@outrigger/x',
  version: '0.1.0',
  private: true,
  engines: { node: '>=22.19' },
  sideEffects: ['./src/a/b.ts'],
  exports: { '.': './src/index.ts', './fake': './src/fake/index.ts' },
  dependencies: { '@outrigger/y': '0.1.0', yaml: '2.9.1' },
  devDependencies: { '@outrigger/z': '0.1.0' },
};

test('sources become what is built of them, our own packages the version of the release', () => {
  assert.deepEqual(publishedManifest({ ...KUBE, license: 'Apache-2.0' } as Manifest, '1.2.3'), {
    name: '@outrigger/x',
    version: '1.2.3',
    license: 'Apache-2.0',
    engines: { node: '>=22.19' },
    sideEffects: ['./dist/a/b.js'],
    exports: {
      '.': { types: './dist/index.d.ts', default: './dist/index.js' },
      './fake': { types: './dist/fake/index.d.ts', default: './dist/fake/index.js' },
      './package.json': './package.json',
    },
    files: ['dist'],
    dependencies: { '@outrigger/y': '1.2.3', yaml: '2.9.1' },
    publishConfig: { access: 'public' },
  });
});

test('programs are built, and folders that are published as they are stand beside what is built', () => {
  const manifest = { ...KUBE, bin: { x: './src/bin.ts' }, files: ['template'] };
  const { bin, files } = publishedManifest(manifest, '1.2.3');
  assert.deepEqual([bin, files], [{ x: './dist/bin.js' }, ['dist', 'template']]);
});

test('what would leave a user in doubt is refused, by the name of the package', () => {
  const { engines: _engines, ...noEngines } = KUBE;
  const { sideEffects: _sideEffects, ...noSideEffects } = KUBE;
  for (const [manifest, message] of [
    [{ ...KUBE, private: false }, /: @outrigger\/x: package\.json must be "private"/u],
    [noEngines, /no engines\.node/u],
    [noSideEffects, /no sideEffects/u],
    [{ ...KUBE, exports: {} }, /no exports\["\."\]/u],
    [{ ...KUBE, exports: { '.': './lib/index.js' } }, /names \.\/lib\/index\.js/u],
  ] as const) {
    assert.throws(() => publishedManifest(manifest, '1.2.3'), message);
  }
});

test('every package of the workspace can be published', () => {
  for (const { manifest } of workspacePackages()) publishedManifest(manifest, '1.2.3');
});
