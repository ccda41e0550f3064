import { providerConformance } from '@outrigger/conformance';
import { createMemoryProvider } from './index.ts';
import { memoryFixture } from './memory-fixture.suite.ts';

await providerConformance({
  name: 'memory, in process',
  provider: ({ cloud }) => createMemoryProvider({ cloud }),
  fixture: () => memoryFixture('process'),
});

await providerConformance({
  name: 'memory, over HTTP',
  provider: () => createMemoryProvider(),
  fixture: () => memoryFixture('http'),
});
