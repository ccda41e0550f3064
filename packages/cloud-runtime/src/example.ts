import type { InstanceAnswer, NodeRef } from '@outrigger/cloud-provider';
import { loadProvider, openProvider } from './index.ts';
import { silentLogger, systemClock } from '@outrigger/kube';

export async function findNode(spec: string, node: NodeRef, signal: AbortSignal): Promise<InstanceAnswer | undefined> {
  const provider = await loadProvider(spec, { builtIn: {}, workingDirectory: process.cwd() });
  await using opened = await openProvider(provider, {
    cluster: { id: 'UID of kube-system', name: 'kubernetes' },
    clock: systemClock,
    logger: silentLogger,
    random: () => 0,
  });
  return opened.lookups?.lookUp(node, { need: 'metadata', signal });
}
