/** A root file system as an OCI image in a tar file, and any artifact so (image-spec 1.1, image layout). The same content gives the same bytes. */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import type { ImageSettings } from './image-settings.ts';

/** Without names, times and umask of the machine: what is packed does not depend on who packs it. */
export const SAME_EVERYWHERE: readonly string[] = [
  '--sort=name',
  '--format=ustar',
  '--mtime=@0',
  '--owner=0',
  '--group=0',
  '--numeric-owner',
  '--mode=go=u,go-w',
];
const ARCHITECTURES: Readonly<Record<string, string>> = { x64: 'amd64', arm64: 'arm64' };
/** Go's name of this machine's. */
export const ARCHITECTURE: string = ARCHITECTURES[process.arch] ?? process.arch;

export interface OciImage {
  /** Of the manifest: what a registry calls the image by. */
  readonly digest: string;
  /** What is downloaded. */
  readonly layerBytes: number;
}

interface Descriptor {
  readonly mediaType: string;
  readonly digest: string;
  readonly size: number;
}

/** Keeps content in the layout. */
export type Put = (mediaType: string, content: Buffer) => Descriptor;

/** The part of a manifest that says what it is of. */
export interface Content {
  readonly config: Descriptor;
  readonly layers: readonly Descriptor[];
  readonly annotations?: Readonly<Record<string, string>>;
}

/** `name`: repository and tag. Needs GNU tar. */
export function writeOciImage(root: string, file: string, name: string, settings: ImageSettings): OciImage {
  const tag = name.slice(name.lastIndexOf(':') + 1);
  const annotations = { 'org.opencontainers.image.ref.name': tag, 'io.containerd.image.name': name };
  let layerBytes = 0;
  const { digest } = writeOciLayout(file, annotations, (put, directory) => {
    const unpacked = join(directory, 'layer.tar');
    pack(root, unpacked);
    const tar = readFileSync(unpacked);
    rmSync(unpacked);
    const layer = put('application/vnd.oci.image.layer.v1.tar+gzip', gzipSync(tar));
    layerBytes = layer.size;
    const config = {
      architecture: ARCHITECTURE,
      os: 'linux',
      config: configOf(settings, tag),
      rootfs: { type: 'layers', diff_ids: [`sha256:${sha256(tar)}`] },
    };
    return {
      config: put('application/vnd.oci.image.config.v1+json', Buffer.from(JSON.stringify(config))),
      layers: [layer],
    };
  });
  return { digest, layerBytes };
}

/**
 * `annotations`: of the entry in the index. `fill` is handed a folder for its own use too; what it leaves there is packed. Returns the
 * manifest's digest.
 */
export function writeOciLayout(
  file: string,
  annotations: Readonly<Record<string, string>>,
  fill: (put: Put, directory: string) => Content,
): { readonly digest: string } {
  const directory = mkdtempSync(join(tmpdir(), 'outrigger-oci-'));
  try {
    mkdirSync(join(directory, 'blobs/sha256'), { recursive: true });
    const put: Put = (mediaType, content) => {
      const digest = sha256(content);
      writeFileSync(join(directory, 'blobs/sha256', digest), content);
      return { mediaType, digest: `sha256:${digest}`, size: content.length };
    };
    const mediaType = 'application/vnd.oci.image.manifest.v1+json';
    const content = { schemaVersion: 2, mediaType, ...fill(put, directory) };
    const manifest = put(mediaType, Buffer.from(JSON.stringify(content)));
    const index = {
      schemaVersion: 2,
      mediaType: 'application/vnd.oci.image.index.v1+json',
      manifests: [{ ...manifest, annotations }],
    };
    writeFileSync(join(directory, 'index.json'), JSON.stringify(index));
    writeFileSync(join(directory, 'oci-layout'), JSON.stringify({ imageLayoutVersion: '1.0.0' }));
    pack(directory, file);
    return { digest: manifest.digest };
  } finally {
    rmSync(directory, { recursive: true });
  }
}

function configOf({ entrypoint, env, port, title, user, workingDirectory }: ImageSettings, tag: string): object {
  return {
    User: user,
    Env: Object.entries(env).map(([key, value]) => `${key}=${value}`),
    Entrypoint: entrypoint,
    WorkingDir: workingDirectory,
    ...(port !== undefined && { ExposedPorts: { [port]: {} } }),
    Labels: {
      'org.opencontainers.image.title': title,
      'org.opencontainers.image.version': tag,
      'org.opencontainers.image.licenses': 'Apache-2.0',
    },
  };
}

function pack(directory: string, file: string): void {
  execFileSync('tar', [...SAME_EVERYWHERE, '-C', directory, '-cf', file, '.'], {
    stdio: ['ignore', 'inherit', 'inherit'],
  });
}

function sha256(content: Buffer): string {
  return createHash('sha256').update(content).digest('hex');
}
