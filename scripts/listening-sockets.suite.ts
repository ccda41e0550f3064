/** What a process listens on. For tests. */
import { readFile, readdir, readlink } from 'node:fs/promises';

/** Addresses, in the notation of Linux's tables, that `pid` listens on by TCP. */
export async function listening(pid: number): Promise<readonly string[]> {
  const sockets = new Set<string>();
  for (const fd of await readdir(`/proc/${pid}/fd`)) {
    const target = await readlink(`/proc/${pid}/fd/${fd}`).catch(() => '');
    const inode = /^socket:\[(\d+)\]$/u.exec(target)?.[1];
    if (inode !== undefined) sockets.add(inode);
  }
  const rows = (await Promise.all(['tcp', 'tcp6'].map((name) => readFile(`/proc/net/${name}`, 'utf8')))).join('\n');
  return rows
    .split('\n')
    .map((row) => row.trim().split(/\s+/u))
    .filter(([, , , state, , , , , , inode = '']) => state === '0A' && sockets.has(inode))
    .map(([, address = '']) => address);
}
