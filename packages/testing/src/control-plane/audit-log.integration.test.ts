import assert from 'node:assert/strict';
import { appendFile, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { AuditLog } from './audit-log.ts';

test('each request counts once, half a line not yet, and a mark counts what comes after', async (t) => {
  const directory = await mkdtemp(join(tmpdir(), 'outrigger-test-'));
  t.after(() => rm(directory, { recursive: true, force: true }));
  const path = join(directory, 'audit.log');
  const entry = (auditID: string, verb: string, stage: string): string =>
    `${JSON.stringify({ auditID, verb, stage, user: { username: 'ü' } })}\n`;
  await appendFile(path, entry('1', 'watch', 'ResponseStarted') + entry('2', 'get', 'ResponseComplete'));
  await appendFile(path, entry('3', 'patch', 'ResponseComplete').slice(0, 30));
  const log = new AuditLog(path);
  assert.deepEqual(await log.count((request) => request.verb), { watch: 1, get: 1 });
  const mark = await log.mark();
  await appendFile(path, entry('3', 'patch', 'ResponseComplete').slice(30) + entry('1', 'watch', 'ResponseComplete'));
  assert.deepEqual(await log.count((request) => request.verb), { watch: 1, get: 1, patch: 1 });
  assert.deepEqual(await log.count((request) => request.verb, mark), { patch: 1, watch: 1 });
  assert.equal((await log.requests((request) => request.verb === 'watch'))[0]?.stage, 'ResponseComplete');
  assert.equal((await Array.fromAsync(log.entries())).length, 4);
});

test('a mark is set before a line of any length that is being written, also when there is no whole one', async (t) => {
  const directory = await mkdtemp(join(tmpdir(), 'outrigger-test-'));
  t.after(() => rm(directory, { recursive: true, force: true }));
  const path = join(directory, 'audit.log');
  const log = new AuditLog(path);
  await appendFile(path, '{'.repeat(40_000));
  assert.deepEqual(await log.mark(), { offset: 0 });
  await appendFile(path, `\n${'{'.repeat(40_000)}`);
  assert.deepEqual(await log.mark(), { offset: 40_001 });
});
