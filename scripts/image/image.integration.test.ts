import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { request } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { Spec, Validation } from '@cyclonedx/cyclonedx-library';
import { systemClock, type Node } from '@outrigger/kube';
import { freePort, hollowNode, startEmbeddedApiServer, UNINITIALIZED_TAINT } from '@outrigger/testing';
import { build } from 'esbuild';
import {
  SMALL_CLOUD_TOKEN,
  smallServer,
  startSmallCloud,
} from '../../packages/cloud-runtime/src/internal/small-cloud.ts';
import { ACME_TOKEN, acmeServer, startAcmeCloud } from '../../packages/provider-kit/src/acme.suite.ts';
import { imageSettings, type ImageSettings } from './image-settings.ts';
import { askLauncher } from './launch-settings.ts';
import { writeOciImage } from './oci-layout.ts';
import { makeRootFileSystem } from './root-file-system.ts';
import { runDockerfile } from './run-dockerfile.suite.ts';
import { besideRoot, canRunInRoot, inRoot, type Mount } from './run-in-root.ts';
import { missingLicences, missingTerms, unlistedFiles } from './system-files.suite.ts';
import { unpackImage } from './unpack-image.suite.ts';

const repository = fileURLToPath(new URL('../../', import.meta.url));
const settings = imageSettings(askLauncher(join(repository, 'distribution/launcher.sh')));

let directory = '';
let root = '';
let bill = '';
/** Of the root, as `make image` writes it. */
let image = '';
let digest = '';

before(async () => {
  directory = mkdtempSync(join(tmpdir(), 'outrigger-image-'));
  chmodSync(directory, 0o755);
  root = join(directory, 'root');
  bill = await makeRootFileSystem(root, '1.2.3');
  image = join(directory, 'image.tar');
  digest = writeOciImage(root, image, 'some/name:v1', settings).digest;
});

after(() => rmSync(directory, { recursive: true, force: true }));

/** A provider of somebody else, which says where it finds itself. Nobody has put the contract beside it. */
const PROVIDER = `
import { writeFileSync } from 'node:fs';
import { lookup } from 'node:dns/promises';
import { isCloudError } from '@outrigger/cloud-provider';
const attempt = (path) => { try { writeFileSync(path, ''); return 'written'; } catch ({ code }) { return code; } };
export default () => ({
  name: 'third',
  open: async () => {
    const seen = { uid: process.getuid(), root: attempt('/mark'), program: attempt(new URL('mark', 'file://' + process.argv[1]).pathname) };
    const address = await lookup('api.cloud.test').then(({ address }) => address, ({ code }) => code);
    process.stderr.write('THIRD ' + JSON.stringify({ ...seen, address, lent: isCloudError({}) }) + '\\n');
    return {};
  },
  close: async () => {},
});
`;

for (const provider of ['/providers/third.mjs', '@acme/cloud']) {
  test(`the program runs in the root, read-only and as nobody, serves health, and loads ${provider} from a mounted volume`, async () => {
    await using server = await startEmbeddedApiServer();
    const config = join(directory, 'config');
    const providers = join(directory, 'providers');
    const installed = join(providers, 'node_modules/@acme/cloud');
    mkdirSync(config, { recursive: true });
    mkdirSync(installed, { recursive: true });
    writeFileSync(join(config, 'kubeconfig'), server.kubeconfig().yaml);
    writeFileSync(join(directory, 'hosts'), '192.0.2.7 api.cloud.test\n');
    asConfigMap(providers, 'third.mjs', PROVIDER);
    writeFileSync(join(installed, 'package.json'), '{"name":"@acme/cloud","type":"module","exports":"./main.js"}');
    writeFileSync(join(installed, 'main.js'), PROVIDER);
    const mounts: readonly Mount[] = [
      { from: config, to: '/etc/outrigger' },
      { from: providers, to: '/providers' },
      { from: join(directory, 'hosts'), to: '/etc/hosts' },
    ];
    const port = await freePort();
    const program = start(root, mounts, settings, [
      `--cloud-provider=${provider}`,
      '--provider-path=/providers',
      '--kubeconfig=/etc/outrigger/kubeconfig',
      '--bind-address=127.0.0.1',
      '--leader-elect=false',
      `--secure-port=${port}`,
    ]);
    let said = '';
    try {
      while ((await statusOf(port)) !== 200 || !/^THIRD .*\n/mu.test(program.said())) {
        program.assertRuns();
        await sleep(20);
      }
      const seen = JSON.parse(/^THIRD (.*)$/mu.exec(program.said())?.[1] ?? '') as Record<string, unknown>;
      if (program.isolated)
        assert.deepEqual(seen, { uid: 65_532, root: 'EROFS', program: 'EROFS', address: '192.0.2.7', lent: false });
      else assert.notEqual(seen['uid'], 0);
    } finally {
      said = program.said();
      assert.equal(await program.end(), 0, said);
    }
  });
}

/** A file as kubelets mount it from a ConfigMap: links to links, so that all files change at once. */
function asConfigMap(volume: string, name: string, text: string): void {
  const generation = join(volume, '..2026_01_01_00_00_00.1');
  if (existsSync(generation)) return;
  mkdirSync(generation);
  writeFileSync(join(generation, name), text);
  symlinkSync('..2026_01_01_00_00_00.1', join(volume, '..data'));
  symlinkSync(`..data/${name}`, join(volume, name));
}

/** The Dockerfiles of the page, over the image that `make image` writes. */
test('the small clouds of the guide, put into images made from this one as the page says, initialise nodes: by path and by package name', async () => {
  const base = join(directory, 'base');
  const started = unpackImage(image, base);
  const page = readFileSync(join(repository, 'docs/guides/deploy/image.md'), 'utf8');
  const dockerfiles = [...page.matchAll(/^ {4}FROM registry\.example.*\n(?: {4}.*\n)+/gmu)].map(([block]) =>
    block.replaceAll(/^ {4}/gmu, ''),
  );
  assert.equal(dockerfiles.length, 2);
  const context = join(directory, 'context');
  const installed = join(context, 'node_modules/@acme/my-cloud');
  mkdirSync(installed, { recursive: true });
  copyFileSync(join(repository, 'packages/cloud-provider/examples/my-cloud.ts'), join(context, 'my-cloud.ts'));
  writeFileSync(
    join(installed, 'package.json'),
    '{"name":"@acme/my-cloud","type":"module","exports":"./my-cloud.mjs"}',
  );
  await bundle(join(repository, 'packages/provider-kit/examples/acme-cloud.ts'), join(installed, 'my-cloud.mjs'));
  const bases = { 'registry.example/cloud-controller-manager:v0.1.0': base };
  for (const text of dockerfiles) runDockerfile({ text, context, bases, output: directory });

  await using small = await startSmallCloud();
  small.servers.set('n', smallServer('n'));
  await using acme = await startAcmeCloud(systemClock);
  acme.resource('servers').put(acmeServer('n'));
  for (const [provider, providerID, cloudConfig] of [
    ['/providers/my-cloud.ts', 'my-cloud://srv-n', { endpoint: small.endpoint, token: SMALL_CLOUD_TOKEN }],
    ['@acme/my-cloud', 'acme://srv-n', { endpoint: acme.endpoint, token: ACME_TOKEN }],
  ] as const) {
    await using server = await startEmbeddedApiServer();
    server.store.put(hollowNode({ name: 'n', ip: '10.1.0.1' }) as Parameters<typeof server.store.put>[0]);
    const config = mkdtempSync(join(directory, 'config-'));
    chmodSync(config, 0o755);
    writeFileSync(join(config, 'kubeconfig'), server.kubeconfig().yaml);
    writeFileSync(join(config, 'cloud.json'), JSON.stringify(cloudConfig));
    const program = start(base, [{ from: config, to: '/etc/outrigger' }], started, [
      `--cloud-provider=${provider}`,
      '--provider-path=/providers',
      '--cloud-config=/etc/outrigger/cloud.json',
      '--kubeconfig=/etc/outrigger/kubeconfig',
      '--leader-elect=false',
      '--secure-port=0',
    ]);
    try {
      const node = (): Node => server.store.get({ plural: 'nodes' }, 'n') as Node;
      while (node().spec?.taints?.some(({ key }) => key === UNINITIALIZED_TAINT)) {
        program.assertRuns();
        await sleep(20);
      }
      assert.equal(node().spec?.providerID, providerID);
    } finally {
      assert.equal(await program.end(), 0, program.said());
    }
  }
});

/** As the guide's page on shipping says it. */
async function bundle(entry: string, outfile: string): Promise<void> {
  const banner = "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);";
  await build({ entryPoints: [entry], outfile, bundle: true, format: 'esm', platform: 'node', banner: { js: banner } });
}

interface StartedProgram {
  /** Whether it sees the root alone. */
  readonly isolated: boolean;
  readonly said: () => string;
  /** Fails with what it said once it has ended. */
  assertRuns(): void;
  /** Its exit code after SIGTERM. */
  end(): Promise<number | null>;
}

function start(
  root: string,
  mounts: readonly Mount[],
  { entrypoint, env: own }: Pick<ImageSettings, 'entrypoint' | 'env'>,
  flags: readonly string[],
): StartedProgram {
  const isolated = canRunInRoot(root);
  const { args, program, uid } = (isolated ? inRoot : besideRoot)(root, mounts, [...entrypoint, ...flags]);
  const env = { ...own, PATH: '/usr/sbin:/usr/bin:/sbin:/bin' };
  const child = spawn(program, args, { env, stdio: ['ignore', 'ignore', 'pipe'], ...(uid ? { uid, gid: uid } : {}) });
  const exited = once(child, 'exit');
  let said = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => (said += text));
  return {
    isolated,
    said: () => said,
    assertRuns: () => assert.equal(child.exitCode ?? child.signalCode, null, said),
    end: async () => {
      child.kill('SIGTERM');
      await exited;
      return child.exitCode;
    },
  };
}

test("the root's own loader, libraries and Node fit together", () => {
  const { args, program } = besideRoot(root, [], [settings.entrypoint[0] ?? '', '-p', 'process.version']);
  assert.equal(execFileSync(program, [...args], { encoding: 'utf8' }).trim(), process.version);
});

interface Component {
  readonly name: string;
  readonly group?: string;
  readonly version?: string;
  readonly purl?: string;
  readonly hashes?: readonly { readonly alg: string; readonly content: string }[];
  readonly components?: readonly Component[];
  readonly licenses?: readonly unknown[];
}

test('the bill of materials is valid CycloneDX', async () => {
  assert.equal(await new Validation.JsonStrictValidator(Spec.Version.v1dot6).validate(bill), null);
  assert.notEqual(
    await new Validation.JsonStrictValidator(Spec.Version.v1dot6).validate(bill.replace('"purl"', '"pearl"')),
    null,
  );
  assert.equal(readFileSync(join(root, 'opt/outrigger/sbom.cdx.json'), 'utf8'), bill);
});

test('the bill of materials names Node, the libraries, and each package that is bundled, as it is installed', () => {
  const { components } = JSON.parse(bill) as { components: readonly Component[] };
  const named = new Map(
    components.map((one) => [one.group === undefined ? one.name : `${one.group}/${one.name}`, one]),
  );
  assert.equal(named.get('node')?.version, process.versions.node);
  for (const name of [
    'undici',
    'yaml',
    'zod',
    'hono',
    '@hono/node-server',
    '@peculiar/x509',
    'pino',
    '@prometheus-io/client',
  ]) {
    const installed = JSON.parse(readFileSync(join(repository, 'node_modules', name, 'package.json'), 'utf8')) as {
      version: string;
    };
    const { licenses, purl, version } = named.get(name) ?? {};
    assert.equal(version, installed.version, name);
    assert.equal(purl, `pkg:npm/${name.replace('@', '%40')}@${installed.version}`);
    assert.equal(licenses?.length, 1, name);
  }
  for (const name of ['esbuild', 'typescript', 'fast-check', '@kubernetes/client-node'])
    assert.ok(!named.has(name), name);
  // What no component accounts for would be a library by its path.
  const libraries = readdirSync(join(root, 'lib'), { recursive: true, encoding: 'utf8' }).filter((path) =>
    path.includes('.so'),
  );
  assert.ok(libraries.length > 0);
  assert.ok([...named.keys()].some((name) => name === 'libc6' || name.endsWith('/libc.so.6')));
});

test('the bill of materials has a hash of all that is in the image and not ours', () => {
  const { components } = JSON.parse(bill) as { components: readonly Component[] };
  const all = components.flatMap((one) => [one, ...(one.components ?? [])]);
  for (const { components: parts = [], hashes = [], name } of all) assert.ok(hashes.length + parts.length > 0, name);
  const node = components.find(({ name }) => name === 'node');
  assert.deepEqual(node?.hashes, [{ alg: 'SHA-256', content: sha256(readFileSync(join(root, 'usr/bin/node'))) }]);
  for (const { content } of all.flatMap(({ hashes = [] }) => hashes)) assert.match(content, /^(?:[0-9a-f]{64}){1,2}$/u);
});

test('the terms of Node and of each library are in the image, and each file of another hand is in the bill of materials', () => {
  assert.deepEqual(unlistedFiles(root, bill, ['usr/bin/node', 'opt/outrigger/', 'etc/']), []);
  assert.deepEqual(missingTerms(root, bill), []);
});

test('the licence of each package that is bundled, also into the page of outrigger ui, is beside the program', () => {
  assert.match(bill, /"pkg:npm\/preact@/u);
  assert.deepEqual(
    missingLicences(readFileSync(join(root, 'opt/outrigger/THIRD-PARTY-LICENSES.txt'), 'utf8'), bill),
    [],
  );
});

test('the same sources make the same root, file by file, and the same image, byte by byte', async () => {
  const second = join(directory, 'elsewhere', 'root');
  mkdirSync(join(directory, 'elsewhere'));
  await makeRootFileSystem(second, '1.2.3');
  assert.deepEqual(fingerprints(second), fingerprints(root));
  const file = join(directory, 'second.tar');
  const again = writeOciImage(second, file, 'some/name:v1', settings);
  assert.deepEqual([again.digest, sha256(readFileSync(file))], [digest, sha256(readFileSync(image))]);
});

test('an OCI image has what it says, by digests that are right, and the same bytes whoever packs it', () => {
  const small = join(directory, 'small');
  mkdirSync(join(small, 'opt'), { recursive: true });
  writeFileSync(join(small, 'opt/file'), 'content', { mode: 0o600 });
  const files = ['one.tar', 'two.tar'].map((name) => join(directory, name));
  const images = files.map((file) => writeOciImage(small, file, 'some/name:v1', settings));
  assert.deepEqual(images[0], images[1]);
  assert.deepEqual(readFileSync(files[0]!), readFileSync(files[1]!));

  const unpacked = join(directory, 'unpacked');
  mkdirSync(unpacked);
  execFileSync('tar', ['-C', unpacked, '-xf', files[0]!]);
  const json = (path: string): Record<string, never> => JSON.parse(readFileSync(join(unpacked, path), 'utf8')) as never;
  const blob = ({ digest, size }: { digest: string; size: number }): string => {
    const path = `blobs/${digest.replace(':', '/')}`;
    const bytes = readFileSync(join(unpacked, path));
    assert.deepEqual([`sha256:${sha256(bytes)}`, bytes.length], [digest, size]);
    return path;
  };
  assert.deepEqual(json('oci-layout'), { imageLayoutVersion: '1.0.0' });
  const [entry] = json('index.json')['manifests'] as unknown as [{ digest: string; size: number; annotations: object }];
  assert.equal(entry.digest, images[0]!.digest);
  const manifest = json(blob(entry)) as unknown as { config: typeof entry; layers: [typeof entry] };
  const config = json(blob(manifest.config)) as unknown as {
    config: Record<string, unknown>;
    rootfs: { diff_ids: string[] };
  };
  assert.deepEqual(config.config['Entrypoint'], settings.entrypoint);
  assert.equal(config.config['User'], '65532:65532');
  const layer = execFileSync('gzip', ['-dc', join(unpacked, blob(manifest.layers[0]))]);
  assert.deepEqual(config.rootfs.diff_ids, [`sha256:${sha256(layer)}`]);
  const listed = execFileSync('tar', ['-tv', '--numeric-owner', '--utc'], { input: layer, encoding: 'utf8' });
  assert.match(listed, /^-rw-r--r-- 0\/0 +7 1970-01-01 00:00 \.\/opt\/file$/mu);
});

function sha256(bytes: Buffer): string {
  return createHash('sha256').update(bytes).digest('hex');
}

function fingerprints(top: string): readonly string[] {
  return readdirSync(top, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ name, parentPath }) => join(parentPath, name))
    .map((path) => `${path.slice(top.length)} ${sha256(readFileSync(path))}`)
    .sort();
}

/** Of `/healthz`; undefined while nobody listens. */
function statusOf(port: number): Promise<number | undefined> {
  return new Promise((resolve) => {
    const asked = request(
      { host: '127.0.0.1', port, path: '/healthz', rejectUnauthorized: false, agent: false },
      (response) => {
        response.resume();
        response.once('end', () => resolve(response.statusCode));
      },
    );
    asked.once('error', () => resolve(undefined));
    asked.end();
  });
}
