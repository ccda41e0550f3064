/** Releases with small files in place of packages, programs and images: those are made by what has tests of its own, and take half a minute. */
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { generateKeyPairSync } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { chartDigest } from '../chart-digest.ts';
import { ARCHITECTURE, writeOciLayout } from '../image/oci-layout.ts';
import { git, makeRelease, type Release } from './make-release.ts';
import { readSigningKey } from './sign.ts';

const repository = fileURLToPath(new URL('../../', import.meta.url));
const directory = mkdtempSync(path.join(tmpdir(), 'outrigger-release-'));
const releases: Release[] = [];
const PLATFORM = `linux-${ARCHITECTURE}`;

/** What each script leaves in `dist`. */
const MADE: Readonly<Record<string, readonly string[]>> = {
  'scripts/packages.ts': ['packages/outrigger-kube-9.8.7.tgz'],
  'scripts/kubectl-plugin.ts': ['kubectl/kubectl-outrigger-9.8.7.tar.gz', 'kubectl/sbom.cdx.json'],
  'scripts/image.ts': ['image/image.tar', 'image/sbom.cdx.json'],
  'scripts/image-credentials.ts': [
    'image-credentials/NODE-LICENSE.txt',
    'image-credentials/THIRD-PARTY-LICENSES.txt',
    'image-credentials/image.tar',
    'image-credentials/outrigger-image-credentials',
    'image-credentials/outrigger-image-credentials.mjs',
    'image-credentials/sbom.cdx.json',
  ],
};

const ran: string[] = [];

/** In place of the scripts of the commit. */
function run(source: string, ...command: readonly string[]): void {
  ran.push(command.join(' '));
  for (const file of MADE[command[0]!]!) {
    const place = path.join(source, 'dist', file);
    mkdirSync(path.dirname(place), { recursive: true });
    if (file.endsWith('image.tar')) writeImage(place, file);
    else writeFileSync(place, file);
  }
}

function writeImage(file: string, content: string): void {
  writeOciLayout(file, {}, (put) => ({ config: put('text/plain', Buffer.from(content)), layers: [] }));
}

before(() => {
  const key = path.join(directory, 'key');
  writeFileSync(key, generateKeyPairSync('ed25519').privateKey.export({ type: 'pkcs8', format: 'pem' }));
  const commit = git(repository, ['rev-parse', 'HEAD']);
  for (const name of ['one', 'two']) {
    const output = path.join(directory, name);
    releases.push(makeRelease({ repository, version: '9.8.7', commit, output, key: readSigningKey(key), run }));
  }
});

after(() => rmSync(directory, { recursive: true }));

const [one, two] = [(): Release => releases[0]!, (): Release => releases[1]!];
const inFirst = (file: string): string => path.join(one().artifacts, file);

test('two releases of one commit are the same, byte by byte', () => {
  assert.deepEqual(one().files, two().files);
  for (const file of one().files) {
    assert.deepEqual(readFileSync(inFirst(file)), readFileSync(path.join(two().artifacts, file)), file);
  }
});

test('it has what was made, the sums of it, what signs it, and no source', () => {
  assert.deepEqual(one().files, [
    'NOTES.md',
    'SHA256SUMS',
    'SHA256SUMS.sig',
    'chart/outrigger-cloud-controller-manager-9.8.7.oci.tar',
    'chart/outrigger-cloud-controller-manager-9.8.7.tgz',
    'image-credentials/NODE-LICENSE.txt',
    'image-credentials/THIRD-PARTY-LICENSES.txt',
    `image-credentials/image-credentials-9.8.7-${PLATFORM}.oci.tar`,
    `image-credentials/outrigger-image-credentials-9.8.7-${PLATFORM}`,
    'image-credentials/outrigger-image-credentials-9.8.7.mjs',
    `image-credentials/sbom-${PLATFORM}.cdx.json`,
    `image/cloud-controller-manager-9.8.7-${PLATFORM}.oci.tar`,
    `image/sbom-${PLATFORM}.cdx.json`,
    'kubectl/kubectl-outrigger-9.8.7.tar.gz',
    'kubectl/sbom.cdx.json',
    'npm/outrigger-kube-9.8.7.tgz',
    'provenance.intoto.jsonl',
    'provenance.json',
    'release.pub',
  ]);
  execFileSync('sha256sum', ['--check', '--quiet', '--strict', 'SHA256SUMS'], { cwd: one().artifacts });
  assert.equal(existsSync(path.join(directory, 'one/source')), false);
  const executable = `image-credentials/outrigger-image-credentials-9.8.7-${PLATFORM}`;
  assert.equal(readFileSync(inFirst(executable), 'utf8'), 'image-credentials/outrigger-image-credentials');
  assert.deepEqual(ran.slice(0, 4), [
    'scripts/packages.ts',
    'scripts/kubectl-plugin.ts',
    'scripts/image.ts',
    'scripts/image-credentials.ts --no-times',
  ]);
  assert.match(readFileSync(inFirst('NOTES.md'), 'utf8'), /^# Outrigger 9\.8\.7\n\n### /u);
});

test('the provenance names each file by its digest, and the commit', () => {
  const { subject } = JSON.parse(readFileSync(inFirst('provenance.json'), 'utf8')) as {
    subject: readonly { name: string; digest: { sha256: string } }[];
  };
  const sums = readFileSync(inFirst('SHA256SUMS'), 'utf8');
  const [files, manifests] = [
    subject.filter(({ name }) => !name.startsWith('oci:')),
    subject.filter(({ name }) => name.startsWith('oci:')),
  ];
  assert.deepEqual(
    files.map(({ name }) => name),
    one().files.filter((file) => !/^(?:SHA256SUMS|provenance|release\.pub)/u.test(file)),
  );
  for (const { digest, name } of files) assert.ok(sums.includes(`${digest.sha256}  ${name}\n`), name);
  const [manager, installer] = one().images;
  assert.notEqual(manager?.digest, installer?.digest);
  assert.deepEqual(
    manifests.map(({ digest, name }) => [name, `sha256:${digest.sha256}`]),
    [
      ['oci:cloud-controller-manager:v9.8.7', manager?.digest],
      ['oci:image-credentials:v9.8.7', installer?.digest],
      ['oci:outrigger-cloud-controller-manager:9.8.7', one().chartDigest],
    ],
  );
});

test('the chart has the version of the release, and neither the values of tests nor their snapshots', () => {
  const chart = inFirst('chart/outrigger-cloud-controller-manager-9.8.7.tgz');
  const read = (...args: readonly string[]): string =>
    execFileSync('tar', [...args, '-f', chart], { encoding: 'utf8' });
  const root = 'outrigger-cloud-controller-manager';
  const files = read('-tz').split('\n');
  assert.ok(files.includes(`${root}/templates/objects.yaml`));
  assert.deepEqual(
    files.filter((file) => /\/(?:ci|snapshots)(?:\/|$)/u.test(file)),
    [],
  );
  assert.match(
    execFileSync('tar', ['-xzOf', chart, `${root}/Chart.yaml`], { encoding: 'utf8' }),
    /^version: 9\.8\.7$/mu,
  );
  const daemonSet = execFileSync('tar', ['-xzOf', chart, `${root}/files/daemonset.yaml`], { encoding: 'utf8' });
  assert.match(daemonSet, /image: registry\.example\/outrigger\/cloud-controller-manager:v9\.8\.7$/mu);
});

test('the OCI artifact of the chart is what helm pulls: its media types, and the archive as its layer', () => {
  const layout = path.join(directory, 'layout');
  execFileSync('mkdir', [layout]);
  execFileSync('tar', ['-C', layout, '-xf', inFirst('chart/outrigger-cloud-controller-manager-9.8.7.oci.tar')]);
  const json = (file: string): unknown => JSON.parse(readFileSync(path.join(layout, file), 'utf8'));
  const blob = (digest: string): string => `blobs/${digest.replace(':', '/')}`;
  const index = json('index.json') as { manifests: [{ digest: string; annotations: object }] };
  assert.equal(index.manifests[0].digest, one().chartDigest);
  assert.deepEqual(index.manifests[0].annotations, { 'org.opencontainers.image.ref.name': '9.8.7' });
  const manifest = json(blob(one().chartDigest)) as {
    config: { mediaType: string; digest: string };
    layers: [{ mediaType: string; digest: string }];
  };
  assert.equal(manifest.config.mediaType, 'application/vnd.cncf.helm.config.v1+json');
  assert.equal((json(blob(manifest.config.digest)) as { version: string }).version, '9.8.7');
  assert.equal(manifest.layers.length, 1);
  assert.equal(manifest.layers[0].mediaType, 'application/vnd.cncf.helm.chart.content.v1.tar+gzip');
  assert.deepEqual(
    readFileSync(path.join(layout, blob(manifest.layers[0].digest))),
    readFileSync(inFirst('chart/outrigger-cloud-controller-manager-9.8.7.tgz')),
  );
});

test('what has to be committed for it is a patch that applies, and that leaves nothing to be prepared', () => {
  const tree = path.join(directory, 'tree');
  execFileSync('git', ['clone', '--quiet', '--depth=1', `file://${repository}`, tree]);
  execFileSync('git', ['apply', path.join(directory, 'one/release.patch')], { cwd: tree });
  const names = execFileSync('git', ['diff', '--name-only'], { cwd: tree, encoding: 'utf8' }).trim().split('\n');
  for (const file of [
    'CHANGELOG.md',
    'package.json',
    'package-lock.json',
    'packages/kube/package.json',
    'deploy/image/Dockerfile',
  ]) {
    assert.ok(names.includes(file), file);
  }
  const chart = path.join(tree, 'deploy/helm/outrigger-cloud-controller-manager');
  assert.equal(readFileSync(path.join(chart, 'snapshots/rendered-from.sha256'), 'utf8').trim(), chartDigest(chart));
  const { version } = JSON.parse(readFileSync(path.join(tree, 'package.json'), 'utf8')) as { version: string };
  assert.equal(version, '9.8.7');
  const identity = ['-c', 'user.name=test', '-c', 'user.email=test@example.com', '-c', 'commit.gpgsign=false'];
  execFileSync('git', [...identity, 'commit', '--quiet', '--all', '--message=release 9.8.7'], { cwd: tree });
  const commit = git(tree, ['rev-parse', 'HEAD']);
  const again = makeRelease({
    repository: tree,
    version: '9.8.7',
    commit,
    output: path.join(directory, 'again'),
    run,
  });
  assert.equal(again.patch, '');
});

test('nothing is published without a tag and a key, and that is said before anything is made', () => {
  const env = { PATH: process.env['PATH'], PUBLISH: '1', VERSION: '9.8.7' };
  const { status, stderr } = spawnSync(process.execPath, ['scripts/release.ts'], {
    cwd: repository,
    env,
    encoding: 'utf8',
  });
  assert.equal(status, 1);
  assert.match(stderr, /^release: it cannot be published:\n/u);
  assert.match(stderr, /the commit has no tag v9\.8\.7/u);
  assert.match(stderr, /there is no key: SIGNING_KEY=file/u);
  assert.equal(existsSync(path.join(repository, 'dist/release/9.8.7')), false);
});
