import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { gunzipSync } from 'node:zlib';
import { silentLogger } from '@outrigger/kube';
import type { CallContext } from '@outrigger/cloud-provider';
import { readConfigDrive } from './config-drive.ts';
import { readIsoFile, type ReadAt } from './iso-file.ts';

/** Made as nova makes one: `genisoimage -ldots -allow-lowercase -allow-multidot -l -quiet -J -r -V config-2`. */
const image = gunzipSync(await readFile(new URL('golden/config-2.iso.gz', import.meta.url)));
const call: CallContext = {
  signal: new AbortController().signal,
  priority: 'normal',
  logger: silentLogger,
  call: () => Promise.reject(new Error('no request is sent')),
};
const readingOf =
  (bytes: Uint8Array): ReadAt =>
  (position, length) =>
    Promise.resolve(bytes.subarray(position, position + length));

test('meta_data.json is read from the image', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'config-drive-'));
  try {
    const device = join(folder, 'config-2');
    await writeFile(device, image);
    const { uuid } = JSON.parse(await readConfigDrive(call, device)) as { uuid: string };
    assert.equal(uuid, '83679162-1378-4288-a2d4-70e13ec132aa');
    await writeFile(device, 'vfat');
    await assert.rejects(
      readConfigDrive(call, device),
      /no ISO 9660 image \(a config drive of the format vfat is not read\)/,
    );
    await assert.rejects(readConfigDrive(call, join(folder, 'none')), { code: 'unavailable', message: /no such disk/ });
  } finally {
    await rm(folder, { recursive: true });
  }
});

test('a path that is not there is said', async () => {
  const read = (...path: string[]): Promise<Uint8Array | string> => readIsoFile(path, readingOf(image));
  assert.equal(await read('openstack', 'latest', 'user_data'), 'there is no user_data in latest');
  assert.equal(await read('nothing'), 'there is no nothing in the root directory');
  assert.equal(await read('openstack', 'latest'), 'latest is a directory');
  assert.equal(await read('openstack', 'latest', 'vendor_data.json', 'x'), 'vendor_data.json is no directory');
});

test('an image that ends anywhere is broken, and never an endless loop or a wrong file', async () => {
  const whole = await readIsoFile(['openstack', 'latest', 'meta_data.json'], readingOf(image));
  assert.ok(typeof whole !== 'string');
  for (let end = 0; end < image.length; end += 1_021) {
    const found = await readIsoFile(['openstack', 'latest', 'meta_data.json'], readingOf(image.subarray(0, end)));
    if (typeof found !== 'string') assert.deepEqual(found, whole);
  }
});
