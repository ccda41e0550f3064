/** A cloud in memory. See ../README.md. */
import type { ProviderFactory } from '@outrigger/cloud-provider';
import { createMemoryProvider } from './memory-provider.ts';

const factory: ProviderFactory = (options) => createMemoryProvider(options);
export default factory;

export { createMemoryProvider, type MemoryProviderOptions } from './memory-provider.ts';
export { createMemoryCloud, type MemoryCloud, type MemoryCloudOptions } from './memory-cloud.ts';
export { serveMemoryCloud, type ServedCloud, type ServeOptions } from './serve-memory-cloud.ts';
export type {
  CloudCall,
  FaultRule,
  MemoryCloudSettings,
  MemoryInstance,
  MemoryPart,
  MemoryRoute,
  MemoryVolume,
  NewInstance,
  NewVolume,
} from './cloud-model.ts';
