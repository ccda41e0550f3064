import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { readFlagFile } from './flag-file.ts';

test('a file is found from the directory, and one that is not there is refused with flag and name as they were given', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'outrigger-flag-file-'));
  try {
    await writeFile(join(directory, 'a.conf'), 'a');
    assert.equal(await readFlagFile('--config', 'a.conf', directory), 'a');
    assert.equal(await readFlagFile('--config', join(directory, 'a.conf')), 'a');
    await assert.rejects(readFlagFile('--config', 'none', directory), {
      name: 'FlagError',
      message: '--config=none: there is no such file',
    });
  } finally {
    await rm(directory, { recursive: true });
  }
});
