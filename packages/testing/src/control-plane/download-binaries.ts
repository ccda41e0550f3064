/** The official release downloads: dl.k8s.io for Kubernetes, GitHub for etcd. Checked against the published SHA-256. */
import { createHash } from 'node:crypto';
import { chmod, copyFile, mkdir, mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { withDeadline, type Clock } from '@outrigger/kube';
import type { Component, Release } from './releases.ts';
import { runCommand } from './run-command.ts';

/** Without a way out, the small checksum file shows it: nobody waits longer than this to learn that he is offline. */
const REACHABLE_MS = 5_000;
/** For the program itself, about 100 MB. */
const TRANSFER_MS = 600_000;

/** Where releases are published; a test brings its own server. */
interface DownloadSites {
  readonly kubernetes: string;
  readonly etcd: string;
}

const SITES: DownloadSites = {
  kubernetes: 'https://dl.k8s.io/release',
  etcd: 'https://github.com/etcd-io/etcd/releases/download',
};

export interface DownloadOptions {
  readonly component: Component;
  readonly release: Release;
  readonly destination: string;
  readonly clock: Clock;
  readonly signal?: AbortSignal | undefined;
  readonly sites?: DownloadSites;
  /** Default: this machine's, in Go's names. */
  readonly platform?: { readonly os: string; readonly arch: string };
}

/** Downloads one program to `destination`; throws when offline, when the checksum differs, or when there is none for this platform. */
export async function downloadBinary(options: DownloadOptions): Promise<void> {
  const { component, release, destination, sites = SITES, platform = thisPlatform() } = options;
  // Servers are published for Linux only, kubectl for all.
  if (platform.os !== 'linux' && component !== 'kubectl') throw new Error(`not published for ${platform.os}`);
  const folder = `${component}-${release.etcd}-${platform.os}-${platform.arch}`;
  const archive = component === 'etcd' ? `${folder}.tar.gz` : undefined;
  const base = archive
    ? `${sites.etcd}/${release.etcd}`
    : `${sites.kubernetes}/${release.kubernetes}/bin/${platform.os}/${platform.arch}`;
  const file = archive ?? component;
  const sums = (await get(`${base}/${archive ? 'SHA256SUMS' : `${file}.sha256`}`, REACHABLE_MS, options)).toString();
  const expected = archive ? sumOf(sums, file) : sums.trim().split(/\s/)[0];
  const content = await get(`${base}/${file}`, TRANSFER_MS, options);
  const actual = createHash('sha256').update(content).digest('hex');
  if (actual !== expected) throw new Error(`${base}/${file}: SHA-256 is ${actual}, published is ${expected}`);
  await mkdir(dirname(destination), { recursive: true });
  // In the same folder, so that the rename is one step.
  const beside = `${destination}.${process.pid}.partial`;
  try {
    if (archive) await unpack(content, join(folder, 'etcd'), beside);
    else await writeFile(beside, content);
    await chmod(beside, 0o755);
    await rename(beside, destination);
  } finally {
    await rm(beside, { force: true });
  }
}

function sumOf(sums: string, file: string): string | undefined {
  const line = sums.split('\n').find((line) => line.trim().endsWith(` ${file}`));
  return line?.trim().split(/\s/)[0];
}

async function unpack(content: Buffer, member: string, destination: string): Promise<void> {
  const directory = await mkdtemp(join(tmpdir(), 'outrigger-download-'));
  try {
    const file = join(directory, 'archive.tar.gz');
    await writeFile(file, content);
    await runCommand('tar', ['-xzf', file, '-C', directory, member]);
    // Not a rename: the temporary directory may lie on another file system.
    await copyFile(join(directory, member), destination);
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

async function get(url: string, timeoutMs: number, options: DownloadOptions): Promise<Buffer> {
  const { clock, signal: caller } = options;
  try {
    return await withDeadline({ clock, timeoutMs, what: url, signal: caller }, async (signal) => {
      const response = await fetch(url, { signal });
      if (!response.ok) throw new Error(`${url}: ${response.status} ${response.statusText}`);
      return Buffer.from(await response.arrayBuffer());
    });
  } catch (error) {
    // fetch says no more than "fetch failed"; the reason is its cause.
    const cause = error instanceof Error && error.cause instanceof Error ? error.cause.message : undefined;
    throw cause === undefined ? error : new Error(`${url}: ${cause}`, { cause: error });
  }
}

function thisPlatform(): { readonly os: string; readonly arch: string } {
  const archs: Partial<Record<string, string>> = { x64: 'amd64', arm64: 'arm64', s390x: 's390x', ppc64: 'ppc64le' };
  return { os: process.platform, arch: archs[process.arch] ?? process.arch };
}
