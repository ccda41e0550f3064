/** Programs of others to judge with: built once from their Go modules, and kept in the cache. */
import { fileURLToPath } from 'node:url';
import { kubeletPlugin } from '../../packages/image-credentials/judge/kubelet-plugin.ts';
import { motoServer } from '../../packages/image-credentials/judge/moto.ts';
import { findBrowser } from '../../packages/ui/browser/find-browser.ts';
import { CERTIFICATES, downloadDefinitions } from '../custom-definitions.ts';
import { findHelm } from '../../scripts/find-helm.ts';
import { registryProgram } from '../../packages/image-credentials/judge/registry.ts';
import { vendorClients } from '../../packages/image-credentials/judge/vendor-clients.ts';
import { silentLogger } from '@outrigger/kube';
import {
  cachedGoProgram,
  kubernetesProgram,
  RELEASES,
  type CachedGoProgram,
  type GoProgram,
  type KubernetesMinor,
} from '@outrigger/testing';

/** The programs are written against the code of this release. */
export const KUBERNETES: KubernetesMinor = '1.36';

const { kubernetes: version } = RELEASES[KUBERNETES];

type JudgeProgram = 'hollow-kubelet' | 'cloud-specs' | 'e2e.test' | 'kubeadm' | 'promtool';

const PROGRAMS: Readonly<Record<JudgeProgram, Omit<CachedGoProgram, 'name'>>> = {
  /** The real kubelet with nothing below it. */
  'hollow-kubelet': kubernetesProgram(version, ownFolder('hollow-kubelet')),
  /** Kubernetes' specs of SIG cloud-provider, with a cloud in which they can delete. */
  'cloud-specs': kubernetesProgram(version, ownFolder('cloud-specs')),
  /** Kubernetes' own end-to-end tests, as they are. */
  'e2e.test': kubernetesProgram(version, { testsOf: 'k8s.io/kubernetes/test/e2e' }),
  /** As it is. */
  kubeadm: kubernetesProgram(version, 'k8s.io/kubernetes/cmd/kubeadm'),
  /** Without service discovery, which neither rules nor metrics need, and which is most of its modules. */
  promtool: {
    module: 'github.com/prometheus/prometheus',
    version: 'v0.315.0',
    source: 'github.com/prometheus/prometheus/cmd/promtool',
    linkerFlags: '-s -w',
    tags: ['remove_all_sd'],
  },
};

function ownFolder(name: string): GoProgram['source'] {
  return { folder: fileURLToPath(new URL(`go/${name}`, import.meta.url)) };
}

/** Its path. The first time takes minutes, of which standard error is told. */
export function judgeProgram(name: JudgeProgram): Promise<string> {
  return cachedGoProgram(
    { name, ...PROGRAMS[name] },
    { logger: { ...silentLogger, info: (message) => void process.stderr.write(`${message}\n`) } },
  );
}

const hollowKubelet = (): Promise<string> => judgeProgram('hollow-kubelet');

/** What each file of tests judges with. */
const USED_BY: Readonly<Record<string, readonly (() => unknown)[]>> = {
  'helm.lab.test.ts': [findHelm, () => downloadDefinitions(CERTIFICATES)],
  'image-credentials-clients.lab.test.ts': [vendorClients],
  'image-credentials.lab.test.ts': [kubeletPlugin, registryProgram, motoServer],
  'kubeadm.lab.test.ts': [() => judgeProgram('kubeadm')],
  'kubelet-serving.lab.test.ts': [hollowKubelet],
  'kubelets.lab.test.ts': [hollowKubelet],
  'promtool.lab.test.ts': [() => judgeProgram('promtool')],
  'ui.lab.test.ts': [findBrowser],
  'upstream-specs.lab.test.ts': [hollowKubelet, () => judgeProgram('e2e.test'), () => judgeProgram('cloud-specs')],
};

/** One after the other: they share most of what is compiled. Throws for a file that {@link USED_BY} does not know. */
export async function buildJudges(files: readonly string[]): Promise<void> {
  for (const file of files) {
    const programs = USED_BY[file];
    if (!programs) throw new Error(`${file} is not in USED_BY of e2e/judges/programs.ts: say what it judges with`);
    for (const build of programs) await build();
  }
}
