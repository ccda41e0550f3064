/** The registry of the distribution project, which is what most registries are made of. */
import { cachedGoProgram } from '@outrigger/testing';

/** Its path. The first time takes minutes. */
export function registryProgram(): Promise<string> {
  const module = 'github.com/distribution/distribution/v3';
  return cachedGoProgram({
    name: 'registry',
    module,
    version: 'v3.0.0',
    source: `${module}/cmd/registry`,
    linkerFlags: '-s -w',
  });
}
