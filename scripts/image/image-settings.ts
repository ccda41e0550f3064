/** What an image says of itself. `deploy/image/Dockerfile` says the same, and a test compares them. */
import type { LaunchSettings } from './launch-settings.ts';

/** Where the program is in the image. */
export const PROGRAM_DIRECTORY = '/opt/outrigger';
export const NODE_PATH = '/usr/bin/node';
/** A place for providers of others: `node_modules` in it is where `--provider-path=/providers` looks. */
export const PROVIDERS_DIRECTORY = '/providers';
/** Nobody, as the shipped manifests have it. */
export const USER = 65_532;

export interface ImageSettings {
  /** For people. */
  readonly title: string;
  readonly user: string;
  readonly env: Readonly<Record<string, string>>;
  readonly entrypoint: readonly string[];
  readonly workingDirectory: string;
  /** Default: it listens on none. */
  readonly port?: string;
}

export function imageSettings({ env, flags }: LaunchSettings): ImageSettings {
  return {
    title: 'Outrigger cloud-controller-manager',
    user: `${USER}:${USER}`,
    env: { PATH: '/usr/bin', ...env },
    entrypoint: [NODE_PATH, ...flags, `${PROGRAM_DIRECTORY}/cloud-controller-manager.js`],
    workingDirectory: '/',
    port: '10258/tcp',
  };
}
