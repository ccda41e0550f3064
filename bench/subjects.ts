/** What is measured: the floor, Outrigger as it is shipped, and upstream's framework, each with its command line. */
import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { ControlPlane } from '@outrigger/testing';
import { buildUpstream, UPSTREAM } from './build-upstream.ts';

const root = (path: string): string => fileURLToPath(new URL(`../${path}`, import.meta.url));

/** What a command line needs to know. */
export interface Surroundings {
  readonly controlPlane: ControlPlane;
  readonly certificateAuthorityFile: string;
  readonly kubeconfig: string;
  /** File with `{"endpoint": "http://…"}`. */
  readonly cloudConfig: string;
  /** Free on 127.0.0.1. */
  readonly port: number;
}

export interface Subject {
  readonly name: string;
  /** Nodes above which it is not run: it would take minutes to say what is known. */
  readonly mostNodes: number;
  readonly usesCloud: boolean;
  command(surroundings: Surroundings): readonly [program: string, ...args: string[]];
}

export const floor: Subject = {
  name: 'floor',
  mostNodes: Number.POSITIVE_INFINITY,
  usesCloud: false,
  command: ({ controlPlane, certificateAuthorityFile }) => [
    process.execPath,
    root('bench/floor.ts'),
    controlPlane.server,
    certificateAuthorityFile,
    controlPlane.adminToken,
  ],
};

export const outrigger: Subject = {
  name: 'outrigger',
  mostNodes: Number.POSITIVE_INFINITY,
  usesCloud: true,
  command: ({ kubeconfig, cloudConfig, port }) => [
    root('bin/cloud-controller-manager'),
    `--kubeconfig=${kubeconfig}`,
    '--cloud-provider=memory',
    `--cloud-config=${cloudConfig}`,
    '--bind-address=127.0.0.1',
    `--secure-port=${port}`,
  ],
};

function upstream(name: string, mostNodes: number, flags: readonly string[]): Subject {
  return {
    name,
    mostNodes,
    usesCloud: true,
    command: ({ kubeconfig, cloudConfig, port }) => [
      UPSTREAM,
      `--kubeconfig=${kubeconfig}`,
      `--authentication-kubeconfig=${kubeconfig}`,
      `--authorization-kubeconfig=${kubeconfig}`,
      '--cloud-provider=memory',
      `--cloud-config=${cloudConfig}`,
      '--bind-address=127.0.0.1',
      `--secure-port=${port}`,
      '--configure-cloud-routes=false',
      ...flags,
    ],
  };
}

/** Those of the published baseline, and what v0.37 has added to them. */
const TUNED: readonly string[] = [
  '--kube-api-qps=1000',
  '--kube-api-burst=2000',
  '--concurrent-node-syncs=50',
  '--concurrent-node-lifecycle-syncs=50',
  '--concurrent-service-syncs=50',
];
const NODES_ONLY = '--controllers=cloud-node-controller';

/** Upstream's default flags make 6.7 nodes a second; hence so few. */
export const subjects: readonly Subject[] = [
  floor,
  outrigger,
  upstream('upstream tuned', Number.POSITIVE_INFINITY, [...TUNED, NODES_ONLY]),
  upstream('upstream default', 100, [NODES_ONLY]),
];

/** With every controller that the flags do not turn off. */
export const upstreams: readonly Subject[] = [
  upstream('upstream tuned', Number.POSITIVE_INFINITY, TUNED),
  upstream('upstream default', Number.POSITIVE_INFINITY, []),
];

/** Builds what is measured. Throws when upstream's is wanted and the Go toolchain is missing. */
export function buildSubjects(withUpstream = true): void {
  execFileSync(process.execPath, [root('scripts/build.ts')], { stdio: 'inherit' });
  if (withUpstream) buildUpstream();
}
