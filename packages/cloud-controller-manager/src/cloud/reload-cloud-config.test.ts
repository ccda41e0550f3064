import assert from 'node:assert/strict';
import { mkdir, mkdtemp, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import type { ConfigText } from '@outrigger/cloud-provider';
import type { OpenedProvider } from '@outrigger/cloud-runtime';
import { PrometheusMetrics } from '@outrigger/controller-manager';
import { silentLogger } from '@outrigger/kube';
import { FakeClock } from '@outrigger/testing';
import type { Foundation } from '../program/foundation.ts';
import { reloadCloudConfig } from './reload-cloud-config.ts';

test('a changed cloud config is handed to the provider; one that it refuses shows in the metric', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'outrigger-config-'));
  try {
    const [clock, metrics] = [new FakeClock(), new PrometheusMetrics()];
    const [refused, handed] = [Promise.withResolvers<string>(), Promise.withResolvers<ConfigText>()];
    const logger = { ...silentLogger, warn: refused.resolve };
    const provider = {
      watchedFiles: () => [],
      reconfigure: (config: ConfigText) => {
        handed.resolve(config);
        return config.text === 'bad' ? Promise.reject(new Error('no region')) : Promise.resolve();
      },
    } as unknown as OpenedProvider;
    const write = (text: string): Promise<void> => writeFile(join(directory, 'cloud.conf'), text);
    await write('a');
    const environment = { workingDirectory: directory };
    const foundation = { clock, environment, logger, metrics } as unknown as Foundation;
    using _reloading = reloadCloudConfig(foundation, provider, { fileName: 'cloud.conf', text: 'a' });
    // The file is read on the thread pool, which no clock moves: the next look is due once the reload has set its timer. What has
    // changed is looked at twice.
    const look = async (): Promise<void> => {
      for (const ms of [10_000, 1_000]) {
        while (clock.pendingTimers === 0) await clock.settle();
        await clock.advance(ms);
      }
    };
    await write('b');
    await look();
    assert.deepEqual(await handed.promise, { fileName: 'cloud.conf', text: 'b' });
    await write('bad');
    await look();
    await refused.promise;
    assert.match(await metrics.render(), /^outrigger_reload_successful\{file="cloud-config"\} 0$/mu);
  } finally {
    await rm(directory, { recursive: true });
  }
});

for (const how of ['a rename', 'the swap of a symbolic link'] as const) {
  test(`a file that the provider wants to be watched, rotated by ${how}: the provider gets its config anew`, async () => {
    const directory = await mkdtemp(join(tmpdir(), 'outrigger-watched-'));
    try {
      const handed: ConfigText[] = [];
      const clock = new FakeClock();
      const provider = {
        watchedFiles: () => ['secret/token'],
        reconfigure: (config: ConfigText) => Promise.resolve(void handed.push(config)),
      } as unknown as OpenedProvider;
      const isSwap = how !== 'a rename';
      await writeFile(join(directory, 'cloud.conf'), 'a');
      await mkdir(join(directory, 'secret/..1'), { recursive: true });
      await writeFile(join(directory, isSwap ? 'secret/..1/token' : 'secret/token'), 'old');
      if (isSwap) {
        await symlink('..1', join(directory, 'secret/..data'));
        await symlink('..data/token', join(directory, 'secret/token'));
      }
      const environment = { workingDirectory: directory };
      const metrics = new PrometheusMetrics();
      const foundation = { clock, environment, logger: silentLogger, metrics } as unknown as Foundation;
      using _reloading = reloadCloudConfig(foundation, provider, { fileName: 'cloud.conf', text: 'a' });
      const look = async (): Promise<void> => {
        while (clock.pendingTimers === 0) await clock.settle();
        await clock.advance(10_000);
        while (clock.pendingTimers === 0) await clock.settle();
      };
      await look();
      assert.deepEqual(handed, []);
      if (isSwap) {
        await mkdir(join(directory, 'secret/..2'));
        await writeFile(join(directory, 'secret/..2/token'), 'new');
        await symlink('..2', join(directory, 'secret/..data_tmp'));
        await rename(join(directory, 'secret/..data_tmp'), join(directory, 'secret/..data'));
      } else {
        await writeFile(join(directory, 'secret/token.new'), 'new');
        await rename(join(directory, 'secret/token.new'), join(directory, 'secret/token'));
      }
      await look();
      await look();
      assert.deepEqual(handed, [{ fileName: 'cloud.conf', text: 'a' }]);
    } finally {
      await rm(directory, { recursive: true });
    }
  });
}
