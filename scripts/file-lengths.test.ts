/** A file that is longer than 400 lines says at its top why. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';

const ROOT = join(import.meta.dirname, '..');
const MOST_LINES = 400;
const GENERATED = /\/generated\//u;
const REASON = /\b400 lines\b/u;

test('a file of more than 400 lines says at its top why', () => {
  const tracked = execFileSync('git', ['ls-files', '--', '*.ts'], { cwd: ROOT, encoding: 'utf8' }).trim().split('\n');
  assert.ok(tracked.length > 1_000, `${tracked.length} files`);
  const silent = tracked
    .filter((file) => !GENERATED.test(file))
    .filter((file) => {
      const lines = readFileSync(join(ROOT, file), 'utf8').split('\n');
      return lines.length - 1 > MOST_LINES && !REASON.test(lines.slice(0, 6).join('\n'));
    });
  assert.deepEqual(silent, []);
});
