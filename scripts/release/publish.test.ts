import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { inOrderOfDependencies, publishScript, whyNotPublished, type PackageToPublish } from './publish.ts';

function packageOf(name: string, dependencies: readonly string[] = []): PackageToPublish {
  return { name: `@o/${name}`, file: `npm/${name}.tgz`, integrity: `sha512-${name}==`, dependencies };
}

const PACKAGES = [packageOf('a', ['@o/c', 'yaml']), packageOf('b'), packageOf('c', ['@o/d']), packageOf('d')];
const IMAGES = [
  'image-credentials/image-credentials-1.2.3-linux-amd64.oci.tar',
  'image/cloud-controller-manager-1.2.3-linux-amd64.oci.tar',
];
const FILES = ['NOTES.md', 'chart/c-1.2.3.oci.tar', 'chart/c-1.2.3.tgz', ...IMAGES, 'npm/a.tgz'];

test('a release goes out only after a registry has said of each lock file that there is no vulnerability that is not accepted', () => {
  const ready = { status: '', tags: ['v1.2.3'], version: '1.2.3', signed: true, patch: '' };
  const found = { id: 'GHSA-a', package: 'p', severity: 'high', title: 't', shipped: true, lock: 'package-lock.json' };
  assert.deepEqual(whyNotPublished({ ...ready, advisories: { unknown: [], refused: [] } }), []);
  const [unknown = '', ...more] = whyNotPublished({
    ...ready,
    advisories: { unknown: ['site/package-lock.json: 405'], refused: [] },
  });
  assert.deepEqual(more, []);
  assert.match(unknown, /^the registry did not say .*\(site\/package-lock\.json: 405\): .*npm_config_registry/u);
  assert.deepEqual(whyNotPublished({ ...ready, advisories: { unknown: [], refused: [found] } }), [
    'there are known vulnerabilities that are not accepted (GHSA-a): run make advisories',
  ]);
  assert.deepEqual(whyNotPublished({ ...ready, advisories: undefined }), []);
});

test('packages are published after those that they depend on; a circle is refused', () => {
  assert.deepEqual(
    inOrderOfDependencies(PACKAGES).map(({ name }) => name),
    ['@o/d', '@o/c', '@o/a', '@o/b'],
  );
  const circle = [packageOf('a', ['@o/b']), packageOf('b', ['@o/a'])];
  assert.throws(() => inOrderOfDependencies(circle), /packages depend on each other: @o\/a → @o\/b → @o\/a/u);
});

test('the script has a command for each thing that a registry takes; what is no release yet is not the latest', () => {
  const script = publishScript('1.2.3', FILES, [packageOf('k')]);
  assert.deepEqual(script.split('\n').slice(-5), [
    'publish @o/k@1.2.3 sha512-k== npm/k.tgz',
    `skopeo copy --preserve-digests oci-archive:${IMAGES[0]} docker://"$REGISTRY"/image-credentials:v1.2.3`,
    `skopeo copy --preserve-digests oci-archive:${IMAGES[1]} docker://"$REGISTRY"/cloud-controller-manager:v1.2.3`,
    'helm push chart/c-1.2.3.tgz oci://"$REGISTRY"/charts',
    '',
  ]);
  assert.match(
    publishScript('1.2.3-rc.1', [], [packageOf('k')]),
    /^publish @o\/k@1\.2\.3-rc\.1 sha512-k== npm\/k\.tgz --tag next$/mu,
  );
});

/** Stands for npm: the registry is a folder with a file for each `name@version`. `npm publish` fails while the file `down` has its name. */
const NPM = `#!/bin/sh
case $1 in
  view) cat "$REGISTRY_FOLDER/$(echo "$2" | tr / _)" 2>/dev/null || { echo E404 >&2; exit 1; } ;;
  publish)
    name=$(basename "$2" .tgz)
    grep -qx "$name" "$REGISTRY_FOLDER/down" && exit 1
    printf 'sha512-%s==' "$name" > "$REGISTRY_FOLDER/@o_$name@1.2.3"
    echo "npm $*" ;;
esac
`;

test('after a failure it goes on where it ended; what was published with other contents stops it', () => {
  const directory = mkdtempSync(path.join(tmpdir(), 'publish-'));
  try {
    const [bin, registry, artifacts] = ['bin', 'registry', 'artifacts'].map((name) => path.join(directory, name)) as [
      string,
      string,
      string,
    ];
    for (const folder of [bin, registry, artifacts]) mkdirSync(folder);
    writeFileSync(path.join(bin, 'npm'), NPM, { mode: 0o755 });
    for (const name of ['skopeo', 'helm', 'sha256sum'])
      writeFileSync(path.join(bin, name), `#!/bin/sh\necho ${name}\n`, { mode: 0o755 });
    writeFileSync(path.join(directory, 'publish.sh'), publishScript('1.2.3', FILES, PACKAGES), { mode: 0o755 });
    const env = { PATH: `${bin}:/usr/bin:/bin`, REGISTRY: 'registry.example', REGISTRY_FOLDER: registry };
    const run = (): { status: number | null; lines: readonly string[]; stderr: string } => {
      const { status, stderr, stdout } = spawnSync(path.join(directory, 'publish.sh'), { env, encoding: 'utf8' });
      return { status, lines: stdout.trim().split('\n'), stderr };
    };
    writeFileSync(path.join(registry, 'down'), 'c\n');
    const first = run();
    assert.deepEqual([first.status, first.lines], [1, ['sha256sum', 'npm publish ./npm/d.tgz']]);
    writeFileSync(path.join(registry, 'down'), '');
    assert.deepEqual(run().lines, [
      'sha256sum',
      '@o/d@1.2.3 is published already',
      'npm publish ./npm/c.tgz',
      'npm publish ./npm/a.tgz',
      'npm publish ./npm/b.tgz',
      'skopeo',
      'skopeo',
      'helm',
    ]);
    writeFileSync(path.join(registry, '@o_d@1.2.3'), 'sha512-other==');
    const other = run();
    assert.deepEqual([other.status, other.lines], [1, ['sha256sum']]);
    assert.equal(other.stderr, '@o/d@1.2.3 is published already, with other contents: sha512-other==\n');
    assert.equal(readFileSync(path.join(registry, '@o_d@1.2.3'), 'utf8'), 'sha512-other==');
    assert.throws(() => execFileSync(path.join(directory, 'publish.sh'), { env: { PATH: env.PATH }, stdio: 'pipe' }));
  } finally {
    rmSync(directory, { recursive: true });
  }
});
