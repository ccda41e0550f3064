/**
 * The config drive: a disk with the label `config-2` that nova gives to a server (nova user guide, "Config drives"). It is read
 * as it is, without being mounted, so that the right to read the device is all that is needed.
 */
import { open } from 'node:fs/promises';
import { CloudError, type CallContext } from '@outrigger/cloud-provider';
import { readIsoFile } from './iso-file.ts';

const DEVICE = '/dev/disk/by-label/config-2';
const PATH = ['openstack', 'latest', 'meta_data.json'];

export async function readConfigDrive(_call: CallContext, device: string = DEVICE): Promise<string> {
  await using file = await open(device, 'r').catch((error: NodeJS.ErrnoException) => {
    const why = error.code === 'ENOENT' ? 'there is no such disk' : error.message;
    throw new CloudError('unavailable', `${device}: ${why}`, { cause: error });
  });
  const found = await readIsoFile(PATH, async (position, length) => {
    const { bytesRead, buffer } = await file.read(Buffer.alloc(length), 0, length, position);
    return buffer.subarray(0, bytesRead);
  });
  if (typeof found !== 'string') return new TextDecoder().decode(found);
  throw new CloudError('invalid', `${device}: ${found}`);
}
