/**
 * Commands of pages that are not run by `run-pages.integration.test.ts`, and why. One list: a command that is neither run nor in here fails that
 * test. All of them are parsed by scripts/doc-commands.test.ts.
 */
export const NOT_RUN: readonly (readonly [command: RegExp, why: string])[] = [
  [/^make (?:test|unit|properties|fuzz|lint)\b/u, 'CI runs these targets themselves, or their stages'],
  [
    /^make (?:bench|chaos|crowd|e2e-\w+|judges)\b/u,
    'takes minutes; CI runs short rounds of them, or they are for people',
  ],
  [
    /^make (?:build|image|release)\b/u,
    'scripts/build-program, scripts/image and scripts/release have integration tests',
  ],
  [/^make site\b/u, 'the stage site'],
  [/^make run\b/u, 'scripts/run.integration.test.ts runs the same script'],
  [/^make lint-repo\b/u, 'in the repository of a provider: scripts/packages/created-repository.packages.test.ts'],
  [/^npm\b/u, 'downloads, or changes a folder of the reader; scripts/packages installs the same tarballs'],
  [/^npx esbuild\b/u, 'in the folder of a provider: packages/provider-kit/src/write-a-provider.integration.test.ts'],
  [
    /^node (?:--test|serve\.ts|try\.ts|path\/to)/u,
    'in the folder of a provider: the same test runs the files of these pages',
  ],
  [/^node generate\.ts\b/u, 'needs a cluster and its own packages: `make generate`'],
  [/^npx node (?:--expose-gc )?bench\//u, 'takes minutes'],
  [/^npx node providers\/memory\/src\/serve\.ts\b/u, 'runs until it is stopped; the tests of that package start it'],
  [/^npx node site\/node_modules\//u, 'runs until it is stopped'],
  [
    /^npx node .*fork\.ts --kubeconfig/u,
    'needs a cluster: packages/cloud-controller-manager/src/program starts the same program',
  ],
  [
    /^cloud-controller-manager --/u,
    'needs a cluster: the control-plane tests of the deployment guides start it with such flags',
  ],
  [
    /^outrigger (?:explain|adopt|migrate check|status|doctor|ui)\b/u,
    'needs a cluster: tests of each command run it on a real control plane',
  ],
  [/^outrigger config validate\b/u, 'needs a cloud: the tests of the command have one'],
  [
    /^outrigger conformance (?:provider|cluster --kubeconfig)\b/u,
    'needs a provider or a cluster: packages/conformance judges both',
  ],
  [/^outrigger docs collect\b/u, 'scripts/provider-repositories.test.ts'],
];
