import assert from 'node:assert/strict';
import { chmod, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import type { GoProgram } from './build-binaries.ts';
import { cachedGoProgram } from './cached-go-program.ts';

test('a program is built once for its version and its own sources, by one of those who ask for it at once', async (t) => {
  const root = await mkdtemp(join(tmpdir(), 'outrigger-test-'));
  t.after(() => rm(root, { recursive: true, force: true }));
  const folder = join(root, 'sources');
  await mkdir(folder);
  await writeFile(join(folder, 'main.go'), 'package main\n');
  const built: string[] = [];
  let isBroken = false;
  const build = async ({ destination, version }: GoProgram): Promise<void> => {
    built.push(version);
    if (isBroken) throw new Error('it does not compile');
    await mkdir(dirname(destination), { recursive: true });
    await writeFile(destination, version);
    await chmod(destination, 0o755);
  };
  const find = (version: string, source: GoProgram['source'] = { folder }): Promise<string> =>
    cachedGoProgram(
      { name: 'tool', module: 'example.test/tool', version, source, linkerFlags: '' },
      { env: { XDG_CACHE_HOME: root }, build },
    );

  const [first, second] = await Promise.all([find('v1'), find('v1')]);
  assert.equal(first, second);
  assert.equal(await readFile(first ?? '', 'utf8'), 'v1');
  assert.deepEqual(built, ['v1']);

  await writeFile(join(folder, 'main.go'), 'package main\n\nfunc main() {}\n');
  assert.notEqual(await find('v1'), first, 'other sources, another program');
  assert.equal(await find('v2', 'example.test/tool/cmd'), join(root, 'outrigger', 'tool', 'v2', 'tool'));
  assert.deepEqual(built, ['v1', 'v1', 'v2']);

  isBroken = true;
  await assert.rejects(find('v3'), /does not compile/u);
  isBroken = false;
  assert.equal(await readFile(await find('v3'), 'utf8'), 'v3', 'a failure is not remembered');
});
