import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { fileURLToPath } from 'node:url';

const repository = fileURLToPath(new URL('../../', import.meta.url));
const directory = mkdtempSync(join(tmpdir(), 'outrigger-advisories-'));
after(() => rmSync(directory, { recursive: true, force: true }));

const LOCKS = ['.', 'scripts/packages/node-22', 'site', 'tools/kube-types'].map(
  (folder) =>
    JSON.parse(readFileSync(join(repository, folder, 'package-lock.json'), 'utf8')) as {
      readonly packages: Readonly<Record<string, { readonly version: string }>>;
    },
);

/** Of a package, in all lock files. */
const lockedVersions = (name: string): readonly string[] =>
  LOCKS.flatMap(({ packages }) => Object.entries(packages))
    .filter(([place]) => place.endsWith(`node_modules/${name}`))
    .map(([, { version }]) => version);

/** What npm knows of an advisory, it keeps by the number. */
let number = 1_100_000;

/** As the registry writes it. */
function advisory(id: string, severity: string): object {
  const url = `https://github.com/advisories/${id}`;
  return {
    id: number++,
    url,
    title: 'It does what it should not',
    severity,
    vulnerable_versions: '<999',
    cwe: ['CWE-20'],
  };
}

interface Outcome {
  readonly code: number;
  readonly output: string;
}

/** Runs the check, with the real npm, against a registry that answers the audit with `status` and `advisories`. */
async function check(status: number, advisories: object, accepted: readonly object[] = [], ci = ''): Promise<Outcome> {
  const server = createServer((request, response) => {
    request.resume();
    const isAudit = request.url === '/-/npm/v1/security/advisories/bulk';
    const name = decodeURIComponent(request.url ?? '').slice(1);
    // Of a package that has an advisory, npm asks for all of its versions.
    const packument = (): object => {
      const versions = lockedVersions(name).map((version) => [version, { name, version, dist: { tarball: 'x' } }]);
      return { name, 'dist-tags': { latest: versions[0]?.[0] }, versions: Object.fromEntries(versions) as object };
    };
    response.writeHead(isAudit ? status : 200, { 'content-type': 'application/json' });
    response.end(JSON.stringify(isAudit ? advisories : packument()));
  });
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  const list = join(directory, 'accepted.json');
  writeFileSync(list, JSON.stringify(accepted));
  const env = {
    ...process.env,
    CI: ci,
    npm_config_registry: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    npm_config_cache: join(directory, 'cache'),
  };
  try {
    return await new Promise((resolve) => {
      execFile(
        process.execPath,
        ['scripts/advisories.ts', `--list=${list}`],
        { cwd: repository, env },
        (error, stdout, stderr) =>
          resolve({ code: error === null ? 0 : Number(error.code), output: `${stdout}${stderr}` }),
      );
    });
  } finally {
    server.closeAllConnections();
    server.close();
  }
}

const CRITICAL = { undici: [advisory('GHSA-aaaa-bbbb-cccc', 'critical')] };

test('an advisory of what is shipped fails', async () => {
  const { code, output } = await check(200, CRITICAL);
  assert.match(
    output,
    /critical: undici: It does what it should not \(GHSA-aaaa-bbbb-cccc\): take a version without it/u,
  );
  assert.equal(code, 1, output);
});

test('each lock file of the repository is asked about, and is named with what it has', async () => {
  const site = await check(200, { vitepress: [advisory('GHSA-aaaa-bbbb-cccc', 'high')] });
  assert.match(site.output, /site\/package-lock\.json: high: vitepress: .* take a version without it/u);
  assert.equal(site.code, 1);
  const tool = await check(200, { 'openapi-typescript': [advisory('GHSA-aaaa-bbbb-cccc', 'moderate')] });
  assert.match(tool.output, /tools\/kube-types\/package-lock\.json: moderate: openapi-typescript: .*, in a tool/u);
  assert.equal(tool.code, 0);
});

test('one that is accepted does not, until its date', async () => {
  const entry = {
    id: 'GHSA-aaaa-bbbb-cccc',
    reason: 'that part is not in the bundle',
    justification: 'vulnerable_code_not_present',
  };
  assert.equal((await check(200, CRITICAL, [{ ...entry, until: '2999-01-01' }])).code, 0);
  assert.equal((await check(200, CRITICAL, [{ ...entry, until: '2020-01-01' }])).code, 1);
});

test('so does a low one; of a tool a high one fails, and a moderate one is printed', async () => {
  const low = await check(200, { yaml: [advisory('GHSA-aaaa-bbbb-cccc', 'low')] });
  assert.match(low.output, /low: yaml: .* take a version without it/u);
  assert.equal(low.code, 1);
  const high = await check(200, { esbuild: [advisory('GHSA-aaaa-bbbb-cccc', 'high')] });
  assert.equal(high.code, 1, high.output);
  const moderate = await check(200, { esbuild: [advisory('GHSA-aaaa-bbbb-cccc', 'moderate')] });
  assert.match(moderate.output, /moderate: esbuild: It does what it should not \(GHSA-aaaa-bbbb-cccc\), in a tool/u);
  assert.equal(moderate.code, 0, moderate.output);
});

test('a registry that does not answer is said to be unknown, which fails in CI alone, and not where it is accepted', async () => {
  const { code, output } = await check(405, {});
  assert.match(output, /UNKNOWN.*405/u);
  assert.doesNotMatch(output, /0 refused/u);
  assert.equal(code, 0);
  const inCi = await check(405, {}, [], 'true');
  assert.match(inCi.output, /"id": "unknown"/u);
  assert.equal(inCi.code, 1);
  const entry = { id: 'unknown', reason: 'the mirror has no audits', until: '2999-01-01' };
  assert.equal((await check(405, {}, [entry], 'true')).code, 0);
});
