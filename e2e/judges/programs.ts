/** Programs of others to judge with: built once from their Go modules, and kept in the cache. */
import { fileURLToPath } from 'node:url';
import { silentLogger } from '@outrigger/kube';
import { cachedGoProgram, RELEASES, type KubernetesMinor } from '@outrigger/testing';

/** The programs are written against the code of this release. */
export const KUBERNETES: KubernetesMinor = '1.36';

const { kubernetes: version } = RELEASES[KUBERNETES];
const [major, minor] = version.slice(1).split('.');
const VERSION_PACKAGE = 'k8s.io/component-base/version';

/** The path of the real kubelet with nothing below it. The first time takes minutes, of which standard error is told. */
export function hollowKubelet(): Promise<string> {
  const values = { gitVersion: version, gitMajor: major, gitMinor: minor };
  const said = Object.entries(values).map(([key, value]) => ` -X ${VERSION_PACKAGE}.${key}=${value}`);
  return cachedGoProgram(
    {
      name: 'hollow-kubelet',
      module: 'k8s.io/kubernetes',
      version,
      source: { folder: fileURLToPath(new URL('go/hollow-kubelet', import.meta.url)) },
      linkerFlags: `-s -w${said.join('')}`,
    },
    { logger: { ...silentLogger, info: (message) => void process.stderr.write(`${message}\n`) } },
  );
}
