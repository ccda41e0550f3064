import assert from 'node:assert/strict';
import { mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { isCloudError } from '@outrigger/cloud-provider';
import { readMountedFiles } from './mounted-files.ts';

test('wanted files by name; no folder is none, and what is no folder is told', async (t) => {
  const at = await mkdtemp(path.join(tmpdir(), 'outrigger-mounted-'));
  t.after(() => rm(at, { recursive: true }));
  await writeFile(path.join(at, 'a.user'), 'u\n');
  await writeFile(path.join(at, 'other'), 'x');
  const isWanted = (name: string): boolean => name.endsWith('.user');
  assert.deepEqual(await readMountedFiles(at, 'folder', isWanted), new Map([['a.user', 'u']]));
  assert.equal(await readMountedFiles(path.join(at, 'gone'), 'folder', isWanted), undefined);
  const file = path.join(at, 'other');
  await assert.rejects(
    readMountedFiles(file, 'secrets-directory', isWanted),
    (error) =>
      isCloudError(error, 'configuration') && error.message === `secrets-directory ${file} cannot be read: ENOTDIR`,
  );
});

test('a file that goes while its folder is read, as a Secret is changed, does not make the folder one that is not there', async (t) => {
  const at = await mkdtemp(path.join(tmpdir(), 'outrigger-mounted-'));
  t.after(() => rm(at, { recursive: true }));
  await writeFile(path.join(at, 'a.user'), 'u\n');
  // What `readdir` has listed, and is not there any more.
  const gone = path.join(at, 'b.user');
  await symlink(path.join(at, 'gone'), gone);
  await assert.rejects(
    readMountedFiles(at, 'secrets-directory', () => true),
    (error) =>
      isCloudError(error, 'configuration') && error.message === `secrets-directory ${gone} cannot be read: ENOENT`,
  );
});
