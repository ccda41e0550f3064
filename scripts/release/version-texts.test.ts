import assert from 'node:assert/strict';
import { test } from 'node:test';
import { checkVersion, cutChangelog, setVersion } from './version-texts.ts';

test('a version is set where it stands, and not in addresses that have its digits', () => {
  const text = 'image: outrigger/x:v0.1.0\nappVersion: 0.1.0\npod: 10.1.0.1, 10.0.1.0/24, 0.1.0.5\nthe end is 0.1.0.\n';
  assert.equal(
    setVersion('deploy/x.yml', text, '0.1.0', '1.2.3'),
    'image: outrigger/x:v1.2.3\nappVersion: 1.2.3\npod: 10.1.0.1, 10.0.1.0/24, 0.1.0.5\nthe end is 1.2.3.\n',
  );
});

test('of manifests and the lock file, our own packages alone', () => {
  const manifest = '{\n  "version": "0.1.0",\n  "dependencies": { "@outrigger/kube": "0.1.0", "other": "0.1.0" }\n}\n';
  assert.equal(
    setVersion('packages/x/package.json', manifest, '0.1.0', '1.2.3'),
    '{\n  "version": "1.2.3",\n  "dependencies": { "@outrigger/kube": "1.2.3", "other": "0.1.0" }\n}\n',
  );
  const lock = {
    version: '0.1.0',
    packages: {
      '': { version: '0.1.0' },
      'packages/x': { version: '0.1.0', devDependencies: { '@outrigger/kube': '0.1.0', other: '0.1.0' } },
      'node_modules/other': { version: '0.1.0' },
    },
  };
  assert.deepEqual(JSON.parse(setVersion('package-lock.json', JSON.stringify(lock), '0.1.0', '1.2.3')), {
    version: '1.2.3',
    packages: {
      '': { version: '1.2.3' },
      'packages/x': { version: '1.2.3', devDependencies: { '@outrigger/kube': '1.2.3', other: '0.1.0' } },
      'node_modules/other': { version: '0.1.0' },
    },
  });
});

test('the changelog is cut once, and its section is what the release says', () => {
  const text = '# Changelog\n\n## [Unreleased]\n\n### Added\n\n- a\n\n## [0.1.0] - 2026-01-01\n\n- old\n';
  const once = cutChangelog(text, '1.2.3', '2026-12-31');
  assert.equal(once.notes, '### Added\n\n- a');
  assert.match(once.text, /^## \[Unreleased\]\n\n## \[1\.2\.3\] - 2026-12-31\n\n### Added$/mu);
  assert.deepEqual(cutChangelog(once.text, '1.2.3', '2027-01-01'), once);
  assert.throws(() => cutChangelog(once.text, '1.2.4', '2027-01-01'), /nothing below/u);
});

test('what is no version is refused', () => {
  for (const version of ['1.2.3', '0.1.0', '1.2.3-rc.1']) checkVersion(version);
  for (const version of ['', 'v1.2.3', '1.2', '01.2.3', '1.2.3+build', '1.2.3-', '$(x)']) {
    assert.throws(() => checkVersion(version), /is no version/u, version);
  }
});
