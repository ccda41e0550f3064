/** Programs of others to judge with: built once from their Go modules, and kept in the cache. */
import { fileURLToPath } from 'node:url';
import { kubeletPlugin } from '../../packages/image-credentials/judge/kubelet-plugin.ts';
import { motoServer } from '../../packages/image-credentials/judge/moto.ts';
import { registryProgram } from '../../packages/image-credentials/judge/registry.ts';
import { silentLogger } from '@outrigger/kube';
import {
  cachedGoProgram,
  RELEASES,
  type CachedGoProgram,
  type GoProgram,
  type KubernetesMinor,
} from '@outrigger/testing';

/** The programs are written against the code of this release. */
export const KUBERNETES: KubernetesMinor = '1.36';

const { kubernetes: version } = RELEASES[KUBERNETES];
const [major, minor] = version.slice(1).split('.');
const VERSION_PACKAGE = 'k8s.io/component-base/version';

type JudgeProgram = 'hollow-kubelet' | 'cloud-specs' | 'e2e.test' | 'kubeadm' | 'promtool';

const PROGRAMS: Readonly<Record<JudgeProgram, Omit<CachedGoProgram, 'name'>>> = {
  /** The real kubelet with nothing below it. */
  'hollow-kubelet': ofKubernetes(ownFolder('hollow-kubelet')),
  /** Kubernetes' specs of SIG cloud-provider, with a cloud in which they can delete. */
  'cloud-specs': ofKubernetes(ownFolder('cloud-specs')),
  /** Kubernetes' own end-to-end tests, as they are. */
  'e2e.test': ofKubernetes({ testsOf: 'k8s.io/kubernetes/test/e2e' }),
  /** As it is. */
  kubeadm: ofKubernetes('k8s.io/kubernetes/cmd/kubeadm'),
  /** Without service discovery, which neither rules nor metrics need, and which is most of its modules. */
  promtool: {
    module: 'github.com/prometheus/prometheus',
    version: 'v0.315.0',
    source: 'github.com/prometheus/prometheus/cmd/promtool',
    linkerFlags: '-s -w',
    tags: ['remove_all_sd'],
  },
};

function ofKubernetes(source: GoProgram['source']): Omit<CachedGoProgram, 'name'> {
  const values = { gitVersion: version, gitMajor: major, gitMinor: minor };
  const said = Object.entries(values).map(([key, value]) => ` -X ${VERSION_PACKAGE}.${key}=${value}`);
  return { module: 'k8s.io/kubernetes', version, source, linkerFlags: `-s -w${said.join('')}` };
}

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

/** One after the other: they share most of what is compiled. */
export async function buildJudges(): Promise<void> {
  for (const name of Object.keys(PROGRAMS) as readonly JudgeProgram[]) await judgeProgram(name);
  await kubeletPlugin();
  await registryProgram();
  motoServer();
}
