/** kube-controller-manager as it was when it had the providers of clouds, to migrate from. */
import { silentLogger } from '@outrigger/kube';
import { cachedGoProgram, kubernetesProgram } from '@outrigger/testing';

/** Of the last minor release that has the provider, and has it switched on. */
const VERSIONS = { aws: 'v1.26.13', vsphere: 'v1.28.15' } as const;

/** Its path. Go builds it once, in ten minutes. Rejects with code `ENOENT` where there is no Go. */
export function buildInTree(provider: keyof typeof VERSIONS): Promise<string> {
  const program = kubernetesProgram(VERSIONS[provider], 'k8s.io/kubernetes/cmd/kube-controller-manager');
  return cachedGoProgram(
    { name: 'kube-controller-manager-in-tree', ...program },
    { logger: { ...silentLogger, info: (message) => void process.stderr.write(`${message}\n`) } },
  );
}
