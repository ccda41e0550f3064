/**
 * Makes all that a release consists of, in a folder of its own: from the commit and not from the work tree, so that what nobody has
 * committed is not in it. The same commit gives the same bytes, but for signatures with ECDSA.
 */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { globSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { readAcceptances } from '../advisories/judge-audit.ts';
import { chartDigest } from '../chart-digest.ts';
import { buildInSource, runWithPackagesOf, type ReleasedImage, type RunScript } from './build-in-source.ts';
import { writeChart } from './chart-artifact.ts';
import { provenanceOf, type Subject } from './provenance.ts';
import { signBytes, signStatement, type SigningKey } from './sign.ts';
import { cutChangelog, setVersion, VERSIONED_FILES } from './version-texts.ts';
import { vexOf } from './vex.ts';

export interface ReleaseOptions {
  readonly repository: string;
  readonly version: string;
  /** Of Git: 40 hex digits. */
  readonly commit: string;
  /** Emptied first. */
  readonly output: string;
  readonly key?: SigningKey | undefined;
  /** Default: with the packages that are installed in the repository. */
  readonly run?: RunScript;
}

export interface Release {
  /** The folder of what is given to others. */
  readonly artifacts: string;
  /** All files in it, relative. */
  readonly files: readonly string[];
  /** What of the repository has to change for it, to be committed and tagged first. Empty where that is done. */
  readonly patch: string;
  readonly images: readonly ReleasedImage[];
  readonly chartDigest: string;
}

const CHART = 'deploy/helm/outrigger-cloud-controller-manager';

export function makeRelease(options: ReleaseOptions): Release {
  const { commit, key, output, repository, version } = options;
  const artifacts = path.join(output, 'artifacts');
  const source = path.join(output, 'source');
  rmSync(output, { recursive: true, force: true });
  for (const folder of [artifacts, source]) mkdirSync(folder, { recursive: true });
  const epoch = Number(git(repository, ['show', '--no-patch', '--format=%ct', commit]));
  checkOut(repository, commit, source);
  const { notes, patch } = prepare(source, version, epoch, path.join(output, 'patch'));
  writeFileSync(path.join(output, 'release.patch'), patch);
  writeFileSync(path.join(artifacts, 'NOTES.md'), `# Outrigger ${version}\n\n${notes}\n`);

  const chart = path.join(artifacts, 'chart');
  mkdirSync(chart);
  const { digest: manifestOfChart } = writeChart(path.join(source, CHART), chart);
  const run = options.run ?? runWithPackagesOf(repository, epoch);
  const images = buildInSource(source, artifacts, version, run);

  const vex = vexOf({
    version,
    epoch,
    products: productsOf(artifacts, version, images),
    acceptances: readAcceptances(readFileSync(path.join(source, 'docs/advisories.json'), 'utf8')),
  });
  if (vex !== undefined) writeFileSync(path.join(artifacts, 'vex.openvex.json'), vex);
  const statement = provenanceOf({
    version,
    commit,
    subjects: [
      ...filesIn(artifacts).map((file) => subjectOf(file, path.join(artifacts, file))),
      ...images.map(({ digest, name }) => manifestSubject(`oci:${name}:v${version}`, digest)),
      manifestSubject(`oci:${path.basename(CHART)}:${version}`, manifestOfChart),
    ],
    materials: [
      subjectOf('package-lock.json', path.join(source, 'package-lock.json')),
      subjectOf('node', process.execPath),
    ],
  });
  writeFileSync(path.join(artifacts, 'provenance.json'), statement);
  if (key) writeFileSync(path.join(artifacts, 'provenance.intoto.jsonl'), signStatement(key, statement));
  const sums = filesIn(artifacts)
    .map((file) => `${sha256(path.join(artifacts, file))}  ${file}\n`)
    .join('');
  writeFileSync(path.join(artifacts, 'SHA256SUMS'), sums);
  if (key) {
    writeFileSync(path.join(artifacts, 'SHA256SUMS.sig'), `${signBytes(key, Buffer.from(sums))}\n`);
    writeFileSync(path.join(artifacts, 'release.pub'), key.publicKey);
  }
  rmSync(source, { recursive: true });
  return { artifacts, files: filesIn(artifacts), patch, images, chartDigest: manifestOfChart };
}

export function git(repository: string, args: readonly string[]): string {
  return execFileSync('git', ['-C', repository, ...args], { encoding: 'utf8', maxBuffer: 64 << 20 }).trim();
}

function checkOut(repository: string, commit: string, source: string): void {
  const archive = `${source}.tar`;
  git(repository, ['archive', `--output=${archive}`, commit]);
  execFileSync('tar', ['-C', source, '-xf', archive]);
  rmSync(archive);
}

/** Sets the version and cuts the changelog in `source`. `work`: a folder that is made and removed. */
function prepare(source: string, version: string, epoch: number, work: string): { notes: string; patch: string } {
  const read = (file: string): string => readFileSync(path.join(source, file), 'utf8');
  const write = (file: string, text: string): void => {
    const before = read(file);
    if (before === text) return;
    for (const [side, content] of Object.entries({ before, after: text })) {
      const copy = path.join(work, side, file);
      mkdirSync(path.dirname(copy), { recursive: true });
      writeFileSync(copy, content);
    }
    writeFileSync(path.join(source, file), text);
  };
  const { version: from } = JSON.parse(read('package.json')) as { version: string };
  const date = new Date(epoch * 1000).toISOString().slice(0, 10);
  const { notes, text } = cutChangelog(read('CHANGELOG.md'), version, date);
  write('CHANGELOG.md', text);
  const named = globSync([...VERSIONED_FILES], { cwd: source }).filter((file) =>
    statSync(path.join(source, file)).isFile(),
  );
  for (const file of named.toSorted()) write(file, setVersion(file, read(file), from, version));
  // The snapshots have the version too, and so they are still of the chart as it is.
  write(`${CHART}/snapshots/rendered-from.sha256`, `${chartDigest(path.join(source, CHART))}\n`);
  const patch = difference(work);
  rmSync(work, { recursive: true, force: true });
  return { notes, patch };
}

/** For `git apply`, where `before` and `after` in `work` differ. */
function difference(work: string): string {
  mkdirSync(work, { recursive: true });
  try {
    execFileSync('git', ['diff', '--no-index', '--no-prefix', '--no-color', 'before', 'after'], {
      cwd: work,
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    return '';
  } catch (error) {
    // Exit code 1 says that they differ; without the folders there is nothing that does.
    const { status, stdout } = error as { status: number; stdout: Buffer };
    return status === 1 ? stdout.toString() : '';
  }
}

/** As package URLs. */
function productsOf(artifacts: string, version: string, images: readonly ReleasedImage[]): readonly string[] {
  const packages = globSync('npm/outrigger-*.tgz', { cwd: artifacts }).toSorted();
  const ending = `-${version}.tgz`;
  return [
    ...images.map(({ digest, name }) => `pkg:oci/${name}@${encodeURIComponent(digest)}`),
    ...packages.map((file) => {
      const name = path.basename(file).slice('outrigger-'.length, -ending.length);
      return `pkg:npm/%40outrigger/${name}@${version}`;
    }),
  ];
}

function manifestSubject(name: string, digest: string): Subject {
  return { name, sha256: digest.replace(/^sha256:/u, '') };
}

function subjectOf(name: string, file: string): Subject {
  return { name, sha256: sha256(file) };
}

function sha256(file: string): string {
  return createHash('sha256').update(readFileSync(file)).digest('hex');
}

function filesIn(folder: string): readonly string[] {
  return globSync('**/*', { cwd: folder })
    .filter((file) => statSync(path.join(folder, file)).isFile())
    .toSorted();
}
