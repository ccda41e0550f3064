import assert from 'node:assert/strict';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { Registry } from '@prometheus-io/client';
import { collectLinuxProcess } from './linux-process.ts';

const LIMITS = `Limit                     Soft Limit           Hard Limit           Units
Max cpu time              unlimited            unlimited            seconds
Max address space         4294967296           unlimited            bytes
`;
const netstat = (received: number, sent: number): string =>
  `TcpExt: SyncookiesSent InOctets\nTcpExt: 1 2\nIpExt: InNoRoutes InOctets OutOctets\nIpExt: 0 ${received} ${sent}\n`;

test('the limit of the memory and the traffic are what Linux says, at each scrape', async (t) => {
  const root = await mkdtemp(join(tmpdir(), 'outrigger-proc-'));
  t.after(() => rm(root, { recursive: true }));
  await mkdir(join(root, 'net'));
  await writeFile(join(root, 'limits'), LIMITS);
  await writeFile(join(root, 'net/netstat'), netstat(700, 30));
  const registry = new Registry();
  collectLinuxProcess(registry, root);
  const samples = async (): Promise<readonly string[]> =>
    (await registry.metrics()).split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  assert.deepEqual(await samples(), [
    'process_virtual_memory_max_bytes 4294967296',
    'process_network_receive_bytes_total 700',
    'process_network_transmit_bytes_total 30',
  ]);
  await writeFile(join(root, 'net/netstat'), netstat(900, 40));
  assert.deepEqual((await samples()).slice(1), [
    'process_network_receive_bytes_total 900',
    'process_network_transmit_bytes_total 40',
  ]);
  await rm(join(root, 'net/netstat'));
  assert.deepEqual((await samples()).slice(1), [
    'process_network_receive_bytes_total 900',
    'process_network_transmit_bytes_total 40',
  ]);
});

test('no limit is the largest number, as Go shows it; and where there is no Linux, there is nothing', async (t) => {
  const root = await mkdtemp(join(tmpdir(), 'outrigger-proc-'));
  t.after(() => rm(root, { recursive: true }));
  const [none, unlimited] = [new Registry(), new Registry()];
  collectLinuxProcess(none, join(root, 'nowhere'));
  assert.equal((await none.metrics()).trim(), '');
  await writeFile(join(root, 'limits'), LIMITS.replace('4294967296', 'unlimited '));
  collectLinuxProcess(unlimited, root);
  assert.match(await unlimited.metrics(), /^process_virtual_memory_max_bytes 18446744073709552000$/mu);
});
