/**
 * `make release VERSION=1.2.3`: all that a release consists of, in `dist/release/1.2.3`; nothing else is touched, and nothing is sent.
 * With `SIGNING_KEY=file` it is signed. With `PUBLISH=1` it has to be what may be published, the registry of npm is asked for known vulnerabilities,
 * and `publish.sh` says how.
 */
import { createHash } from 'node:crypto';
import { chmodSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { askRegistry } from './advisories/ask-registry.ts';
import { readAcceptances } from './advisories/judge-audit.ts';
import { workspacePackages } from './packages/workspace-packages.ts';
import { git, makeRelease } from './release/make-release.ts';
import { publishScript, whyNotPublished, type PackageToPublish } from './release/publish.ts';
import { readSigningKey } from './release/sign.ts';
import { checkVersion } from './release/version-texts.ts';

const repository = fileURLToPath(new URL('../', import.meta.url));
const { PUBLISH, SIGNING_KEY, VERSION = '' } = process.env;

try {
  await release();
} catch (error) {
  console.error(`release: ${(error as Error).message}`);
  process.exitCode = 1;
}

async function release(): Promise<void> {
  checkVersion(VERSION);
  const key = SIGNING_KEY ? readSigningKey(path.resolve(SIGNING_KEY)) : undefined;
  const commit = git(repository, ['rev-parse', 'HEAD']);
  const status = git(repository, ['status', '--porcelain']);
  const tags = git(repository, ['tag', '--points-at', commit]).split('\n');
  const readiness = { status, tags, version: VERSION, signed: key !== undefined, advisories: undefined };
  // Before half a minute of work; what has to be prepared is known after it.
  if (PUBLISH === '1') {
    refuse(whyNotPublished({ ...readiness, patch: '' }));
    refuse(whyNotPublished({ ...readiness, patch: '', advisories: await askedRegistry() }));
  } else if (status !== '')
    console.warn('release: the work tree has changes, which are not in what is made: it is made of the commit');
  const output = path.join(repository, 'dist/release', VERSION);
  const made = makeRelease({ repository, version: VERSION, commit, output, key });
  const here = (file: string): string => path.relative(process.cwd(), file);
  for (const file of made.files) console.log(here(path.join(made.artifacts, file)));
  for (const { digest, name } of made.images) console.log(`image ${name} ${digest}`);
  console.log(`chart ${made.chartDigest}, all of commit ${commit}`);
  if (!existsSync(path.join(made.artifacts, 'vex.openvex.json')))
    console.log('no VEX document: docs/advisories.json accepts no advisory');
  if (!key) console.log('not signed: give SIGNING_KEY=file');
  const missing = whyNotPublished({ ...readiness, patch: made.patch });
  if (PUBLISH !== '1') {
    for (const why of missing) console.log(`not to be published yet: ${why}`);
    return;
  }
  refuse(missing);
  const script = path.join(output, 'publish.sh');
  writeFileSync(script, publishScript(VERSION, made.files, packagesIn(made.artifacts)));
  chmodSync(script, 0o755);
  console.log(`${here(script)} publishes it, with the credentials of whoever runs it`);
}

/** Also where `docs/advisories.json` accepts that nothing is known: that is for changes, and not for what others install. */
function askedRegistry(): ReturnType<typeof askRegistry> {
  const acceptances = readAcceptances(readFileSync(path.join(repository, 'docs/advisories.json'), 'utf8'));
  return askRegistry(acceptances, new Date().toISOString().slice(0, 10));
}

/** The work tree is clean and at the commit that was made, so its manifests are those of the tarballs. */
function packagesIn(artifacts: string): readonly PackageToPublish[] {
  return workspacePackages().map(({ manifest: { dependencies = {}, name } }) => {
    const file = `npm/${name.slice(1).replace('/', '-')}-${VERSION}.tgz`;
    const digest = createHash('sha512')
      .update(readFileSync(path.join(artifacts, file)))
      .digest('base64');
    return { name, file, integrity: `sha512-${digest}`, dependencies: Object.keys(dependencies) };
  });
}

function refuse(reasons: readonly string[]): void {
  if (reasons.length > 0) throw new Error(`it cannot be published:\n${reasons.map((why) => `  ${why}`).join('\n')}`);
}
