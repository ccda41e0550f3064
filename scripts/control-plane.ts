/**
 * The programs of a real control plane, outside of tests.
 *
 *     node scripts/control-plane.ts path  [--kubernetes 1.37] [--components etcd,kube-apiserver]
 *     node scripts/control-plane.ts build [--kubernetes 1.37] [--components …]
 *
 * `path` finds or makes them and prints `<program> <path> <how>` each; `build` makes sure that they are in the cache,
 * whatever lies on PATH, and says how long each took.
 */
import { parseArgs } from 'node:util';
import { silentLogger, type Logger } from '@outrigger/kube';
import { DEFAULT_KUBERNETES, findBinaries, parseKubernetesMinor, type Component } from '@outrigger/testing';

const USAGE = 'usage: node scripts/control-plane.ts path|build [--kubernetes 1.37] [--components etcd,kubectl,…]';
const COMPONENTS: readonly Component[] = ['etcd', 'kube-apiserver', 'kube-controller-manager', 'kubectl'];

const progress: Logger = { ...silentLogger, info: (message) => console.error(message) };

async function main(): Promise<void> {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: { kubernetes: { type: 'string', default: DEFAULT_KUBERNETES }, components: { type: 'string' } },
  });
  const [command] = positionals;
  if (positionals.length !== 1 || (command !== 'path' && command !== 'build')) throw new Error(USAGE);
  const kubernetes = parseKubernetesMinor(values.kubernetes);
  const components = (values.components?.split(',') ?? COMPONENTS).map((name) => {
    const component = COMPONENTS.find((component) => component === name);
    if (!component) throw new Error(`no component "${name}"; there are ${COMPONENTS.join(', ')}`);
    return component;
  });
  const found = await findBinaries(kubernetes, components, { logger: progress, onlyCache: command === 'build' });
  for (const component of components) console.log(`${component} ${found[component].path} ${found[component].source}`);
}

try {
  await main();
} catch (error) {
  console.error(error instanceof Error ? error.message : String(error));
  process.exitCode = 1;
}
