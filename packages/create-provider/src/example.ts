import { createRepository, lintRepository } from './index.ts';

/** What a new provider still lacks of what Kubernetes asks of its repository. */
export function begin(directory: string): readonly string[] {
  createRepository({ directory, name: 'acme', title: 'Acme Cloud', capabilities: ['load-balancers'] });
  const { findings } = lintRepository(directory);
  return findings.filter(({ outcome }) => outcome === 'missed').map(({ id }) => id);
}
