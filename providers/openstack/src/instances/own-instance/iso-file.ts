/**
 * One file of an ISO 9660 image (ECMA-119), by its path. As much as a config drive needs: nova has names written in full and in
 * small letters (`genisoimage -l -allow-lowercase -allow-multidot`), so no extension has to be read.
 */

/** Gives fewer bytes at the end of the image. */
export type ReadAt = (position: number, length: number) => Promise<Uint8Array>;

const SECTOR = 2048;
const FIRST_DESCRIPTOR = 16;
/** Types of volume descriptors (8.1.1). */
const PRIMARY = 1;
const END = 255;
/** More than a directory or a `meta_data.json` ever has; what is longer is broken. */
const MOST_BYTES = 1 << 20;

interface Entry {
  readonly name: string;
  readonly position: number;
  readonly length: number;
  readonly isDirectory: boolean;
}

/** The file's bytes, or what is wrong with the image. */
export async function readIsoFile(path: readonly string[], readAt: ReadAt): Promise<Uint8Array | string> {
  const root = await findRoot(readAt);
  if (!root) return 'no ISO 9660 image (a config drive of the format vfat is not read)';
  let entry = root;
  for (const name of path) {
    if (!entry.isDirectory) return `${entry.name} is no directory`;
    const next = entriesOf(await readEntry(entry, readAt)).find((one) => one.name === name);
    if (!next) return `there is no ${name} in ${entry.name || 'the root directory'}`;
    entry = next;
  }
  if (entry.isDirectory) return `${entry.name} is a directory`;
  const bytes = await readEntry(entry, readAt);
  return bytes.length === entry.length ? bytes : `${entry.name} is cut off`;
}

async function findRoot(readAt: ReadAt): Promise<Entry | undefined> {
  for (let sector = FIRST_DESCRIPTOR; sector < FIRST_DESCRIPTOR + 16; sector++) {
    const descriptor = await readAt(sector * SECTOR, SECTOR);
    if (descriptor.length < SECTOR || ascii(descriptor.subarray(1, 6)) !== 'CD001' || descriptor[0] === END)
      return undefined;
    if (descriptor[0] === PRIMARY) return entryAt(descriptor, 156);
  }
  return undefined;
}

async function readEntry({ position, length }: Entry, readAt: ReadAt): Promise<Uint8Array> {
  return readAt(position, Math.min(length, MOST_BYTES));
}

/** An entry never crosses from one sector into the next; a length of 0 is the end of its sector (6.8.1.1). */
function entriesOf(directory: Uint8Array): readonly Entry[] {
  const entries: Entry[] = [];
  for (let at = 0; at < directory.length;) {
    const length = directory[at] ?? 0;
    const entry = length === 0 ? undefined : entryAt(directory, at);
    if (entry) entries.push(entry);
    at = length === 0 ? (Math.floor(at / SECTOR) + 1) * SECTOR : at + length;
  }
  return entries;
}

/** A directory record (9.1). Numbers are there twice, the little-endian ones first. */
function entryAt(bytes: Uint8Array, at: number): Entry | undefined {
  const view = new DataView(bytes.buffer, bytes.byteOffset + at, bytes.length - at);
  if (view.byteLength < 34 || view.byteLength < 33 + view.getUint8(32)) return undefined;
  const name = ascii(bytes.subarray(at + 33, at + 33 + view.getUint8(32)));
  return {
    name: name.replace(/;\d+$/, '').replace(/\.$/, '').replaceAll('\0', ''),
    position: view.getUint32(2, true) * SECTOR,
    length: view.getUint32(10, true),
    isDirectory: (view.getUint8(25) & 2) !== 0,
  };
}

function ascii(bytes: Uint8Array): string {
  return String.fromCharCode(...bytes);
}
