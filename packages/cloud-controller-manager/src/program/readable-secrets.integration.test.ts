import assert from 'node:assert/strict';
import { chmod, mkdir, mkdtemp, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { silentLogger, type Logger } from '@outrigger/kube';
import { warnOfReadableSecrets, type SecretFile } from './readable-secrets.ts';

test('a file with credentials that others can read is told, and no other', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'outrigger-secrets-'));
  const put = async (name: string, mode: number, text = ''): Promise<void> => {
    await writeFile(join(directory, name), text);
    await chmod(join(directory, name), mode);
  };
  try {
    for (const [name, mode] of [
      ['own', 0o600],
      ['group', 0o640],
      ['all', 0o644],
    ] as const)
      await put(name, mode);
    // As the kubelet mounts a Secret.
    await mkdir(join(directory, 'mount/..2026_01_01'), { recursive: true });
    await put('mount/..2026_01_01/cloud.conf', 0o644);
    await symlink('..2026_01_01', join(directory, 'mount/..data'));
    await symlink('..data/cloud.conf', join(directory, 'mount/cloud.conf'));
    const pem = (what: string): string => `-----BEGIN ${what}-----\nMII=\n-----END ${what}-----\n`;
    await put('ca.pem', 0o644, pem('CERTIFICATE').repeat(2));
    await put('client.pem', 0o644, pem('CERTIFICATE') + pem('PRIVATE KEY'));

    const { gid } = await stat(directory);
    const told = async (group: number): Promise<readonly unknown[]> => {
      const lines: unknown[] = [];
      const logger: Logger = {
        ...silentLogger,
        warn: (_message, fields) => void lines.push([fields?.['flag'], fields?.['mode']]),
      };
      const names = ['own', 'group', 'all', 'mount/cloud.conf', 'none'];
      const files: SecretFile[] = names.map((name) => ({ flag: name, path: name }));
      // What the provider watches: once each, also where a flag or another provider names it; certificates alone are no secret.
      for (const name of ['all', 'client.pem', './client.pem', 'ca.pem', 'none'])
        files.push({ flag: '--cloud-config', path: name, isWatched: true });
      await warnOfReadableSecrets(files, { group, logger, workingDirectory: directory });
      return lines;
    };
    assert.deepEqual(await told(gid), [
      ['all', '644'],
      ['--cloud-config', '644'],
    ]);
    assert.deepEqual(await told(gid + 1), [
      ['group', '640'],
      ['all', '644'],
      ['--cloud-config', '644'],
    ]);
  } finally {
    await rm(directory, { recursive: true });
  }
});
