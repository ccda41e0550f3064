import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { readCard } from '../provider-card.ts';
import { temporaryFolder } from '../temporary-folder.suite.ts';
import { createProvider } from './create-provider.ts';

interface Outcome {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

function run(cwd: string, ...args: readonly string[]): Outcome {
  const told = { stdout: '', stderr: '' };
  const stream = (name: keyof typeof told): { write(text: string): void } => ({
    write: (text) => void (told[name] += text),
  });
  const code = createProvider(args, { cwd, stdout: stream('stdout'), stderr: stream('stderr') });
  return { code, ...told };
}

const modulesOf = (folder: string): readonly string[] =>
  readdirSync(path.join(folder, 'cloud-controller-manager/src'))
    .filter((file) => !file.includes('.test.'))
    .toSorted();

test('without a capability there are load balancers and routes, with --nodes alone nodes; a folder comes for each that is named', () => {
  using folder = temporaryFolder();
  const { code, stdout } = run(folder.path, 'acme');
  assert.equal(code, 0);
  assert.match(stdout, /^acme: \d+ files, with nodes, load-balancers, routes\n\n {2}cd acme\n {2}make test\n/u);
  assert.deepEqual(modulesOf(path.join(folder.path, 'acme')), [
    'api.ts',
    'instances.ts',
    'load-balancers.ts',
    'provider.ts',
    'routes.ts',
  ]);
  assert.equal(run(folder.path, 'small', '--nodes').code, 0);
  assert.deepEqual(modulesOf(path.join(folder.path, 'small')), ['api.ts', 'instances.ts', 'provider.ts']);
  assert.equal(run(folder.path, 'other', '--volumes', '--csi', '--directory=there').code, 0);
  assert.deepEqual(modulesOf(path.join(folder.path, 'there')), ['api.ts', 'instances.ts', 'provider.ts', 'volumes.ts']);
  assert.ok(existsSync(path.join(folder.path, 'there/csi/README.md')));
  assert.ok(!existsSync(path.join(folder.path, 'there/dns')));
});

test('nothing of the template is left in a repository: no mark, no other name', () => {
  using folder = temporaryFolder();
  const directory = folder.create('acme', { title: 'The Acme', capabilities: ['routes', 'dns'] });
  const files = readdirSync(directory, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  assert.ok(files.length > 20 && files.some(({ name }) => name === '.gitignore'));
  for (const { name, parentPath } of files) {
    const text = readFileSync(path.join(parentPath, name), 'utf8');
    assert.doesNotMatch(text, /my-cloud|My Cloud|<\/?(?:routes|load-balancers|volumes|additional)>/u, name);
  }
});

test('its workflow names each action by the commit of a release', () => {
  using folder = temporaryFolder();
  const workflow = readFileSync(path.join(folder.create('acme'), '.github/workflows/test.yml'), 'utf8');
  const actions = [...workflow.matchAll(/uses: (?<action>.*)$/gmu)].map(([, action]) => action);
  assert.equal(actions.length, 3);
  for (const action of actions) assert.match(action ?? '', /^actions\/[a-z-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/u);
});

test('tarballs of make packages are copied into the repository and take the place of versions, with those that they depend on', () => {
  using folder = temporaryFolder();
  const packages = path.join(folder.path, 'packages');
  mkdirSync(packages);
  for (const name of [
    'cloud-provider-0.1.0.tgz',
    'provider-kit-0.2.0-rc.1.tgz',
    'kube-0.1.0.tgz',
    'testing-0.1.0.tgz',
  ]) {
    writeFileSync(path.join(packages, `outrigger-${name}`), name);
  }
  assert.equal(run(folder.path, 'acme', '--packages=packages').code, 0);
  const { dependencies, devDependencies } = JSON.parse(
    readFileSync(path.join(folder.path, 'acme/package.json'), 'utf8'),
  ) as Record<string, Record<string, string>>;
  assert.equal(dependencies?.['@outrigger/provider-kit'], 'file:packages/outrigger-provider-kit-0.2.0-rc.1.tgz');
  assert.equal(devDependencies?.['@outrigger/testing'], 'file:packages/outrigger-testing-0.1.0.tgz');
  assert.match(devDependencies?.['@outrigger/cloud-runtime'] ?? '', /^\d/u);
  // An image is built from the repository alone.
  const copied = readFileSync(path.join(folder.path, 'acme/packages/outrigger-testing-0.1.0.tgz'), 'utf8');
  assert.equal(copied, 'testing-0.1.0.tgz');
  const dockerfile = (name: string): string =>
    readFileSync(path.join(folder.path, name, 'cloud-controller-manager/Dockerfile'), 'utf8');
  assert.match(dockerfile('acme'), /^COPY packages packages\nRUN npm ci /mu);
  const readme = (name: string): string => readFileSync(path.join(folder.path, name, 'README.md'), 'utf8');
  assert.match(readme('acme'), /^\| `packages` \| the tarballs/mu);
  run(folder.path, 'released');
  assert.doesNotMatch(readme('released'), /tarballs/u);
  assert.match(dockerfile('released'), /^COPY package\.json package-lock\.json \.\/\nRUN npm ci /mu);
});

test('a title may be a number, and a name a word of YAML', () => {
  using folder = temporaryFolder();
  const directory = folder.create('true', { title: '2024' });
  const { name, title } = readCard(readFileSync(path.join(directory, 'provider.yaml'), 'utf8'));
  assert.deepEqual([name, title], ['true', '2024']);
});

test('what is wrong is one line, exit code 1, and nothing is written', () => {
  using folder = temporaryFolder();
  mkdirSync(path.join(folder.path, 'full'));
  writeFileSync(path.join(folder.path, 'full/mine'), '');
  mkdirSync(path.join(folder.path, 'empty'));
  for (const [args, message] of [
    [[], /name one provider/u],
    [['a', 'b'], /name one provider/u],
    [['Acme'], /"Acme" cannot be a provider's name/u],
    [['acme-'], /"acme-" cannot be a provider's name: .* no dash last/u],
    [['a'.repeat(39)], /at most 38/u],
    [['acme', '--title=<b>'], /the title "<b>" may have/u],
    [['acme', '--wings'], /--wings/u],
    [['full'], /full is not empty/u],
    [['acme', '--packages=empty'], /there are no tarballs in .*empty: make packages/u],
    [['acme', '--packages=nowhere'], /nowhere/u],
  ] as const) {
    const { code, stderr, stdout } = run(folder.path, ...args);
    assert.deepEqual([code, stdout], [1, ''], args.join(' '));
    assert.match(stderr, /^create-provider: [^\n]+\n$/u);
    assert.match(stderr, message);
  }
  assert.deepEqual(readdirSync(folder.path).toSorted(), ['empty', 'full']);
  assert.match(run(folder.path, '--help').stdout, /^npm create @outrigger\/provider NAME/u);
});
