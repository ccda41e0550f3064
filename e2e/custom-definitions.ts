/** Definitions of other projects, read where they are: none of them is kept here. */
import { join } from 'node:path';
import { downloadGoModule, type ControlPlane } from '@outrigger/testing';
import { kubectl } from './granted-program.ts';
import { waitUntil } from './wait-until.ts';

/** A Go module, the files with definitions in it, and the names of what they define. */
export interface Definitions {
  readonly module: string;
  readonly version: string;
  readonly files: Readonly<Record<string, string>>;
}

export const CERTIFICATES: Definitions = {
  module: 'github.com/cert-manager/cert-manager',
  version: 'v1.19.1',
  files: { 'certificates.cert-manager.io': 'deploy/crds/cert-manager.io_certificates.yaml' },
};

export const CLUSTER_API: Definitions = {
  module: 'sigs.k8s.io/cluster-api',
  version: 'v1.12.0',
  files: {
    'kubeadmcontrolplanes.controlplane.cluster.x-k8s.io':
      'controlplane/kubeadm/config/crd/bases/controlplane.cluster.x-k8s.io_kubeadmcontrolplanes.yaml',
    'kubeadmconfigtemplates.bootstrap.cluster.x-k8s.io':
      'bootstrap/kubeadm/config/crd/bases/bootstrap.cluster.x-k8s.io_kubeadmconfigtemplates.yaml',
  },
};

/** Of RKE2 and k3s; the version that RKE2 is built with. */
export const HELM_CHARTS: Definitions = {
  module: 'github.com/k3s-io/helm-controller',
  version: 'v0.17.7',
  files: { 'helmcharts.helm.cattle.io': 'pkg/crds/yaml/generated/helm.cattle.io_helmcharts.yaml' },
};

/** Into the cache; their folder. Rejects where they cannot be had. */
export async function downloadDefinitions({ module, version }: Definitions): Promise<string> {
  const { directory } = await downloadGoModule(module, version);
  return directory;
}

/** Resolves once the API server knows them. Rejects as `downloadDefinitions`. */
export async function define(controlPlane: ControlPlane, definitions: Definitions): Promise<void> {
  const directory = await downloadDefinitions(definitions);
  for (const [name, file] of Object.entries(definitions.files)) {
    await kubectl(controlPlane, ['apply', '--server-side', `--filename=${join(directory, file)}`]);
    // `kubectl wait` takes an object whose conditions are not there yet for a mistake.
    const conditions = ['get', `crd/${name}`, '--output=jsonpath={.status.conditions}'];
    await waitUntil(
      `${name} is established`,
      async () => /"status":"True","type":"Established"/u.test(await kubectl(controlPlane, conditions)),
      { patienceMs: 180_000, pollMs: 100, logs: [] },
    );
    // Its discovery, by which kubectl finds what an object is, may be later still.
    const discovered = ['api-resources', `--api-group=${name.slice(name.indexOf('.') + 1)}`, '--output=name'];
    await waitUntil(
      `${name} is discovered`,
      async () => (await kubectl(controlPlane, discovered)).split('\n').includes(name),
      { patienceMs: 180_000, pollMs: 100, logs: [] },
    );
  }
}
