import { createMemoryCloud, serveMemoryCloud, type ServedCloud } from './index.ts';
import type { Clock } from '@outrigger/cloud-provider';

export async function serveThreeNodes(clock: Clock): Promise<ServedCloud> {
  const cloud = createMemoryCloud({ clock, random: () => 0 });
  for (const name of ['node-1', 'node-2', 'node-3']) cloud.createInstance({ name });
  return serveMemoryCloud(cloud);
}
