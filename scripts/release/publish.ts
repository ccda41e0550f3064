/** When a release may be published, and by which commands. Pure. */

export interface Readiness {
  /** What `git status --porcelain` says. */
  readonly status: string;
  /** Tags of the commit. */
  readonly tags: readonly string[];
  readonly version: string;
  readonly signed: boolean;
  /** What has to change in the repository first. */
  readonly patch: string;
}

/** Why not, each with what to do. Empty: it may be. */
export function whyNotPublished({ patch, signed, status, tags, version }: Readiness): readonly string[] {
  return [
    ...(status === '' ? [] : ['the work tree is not clean: commit or remove what `git status` shows']),
    ...(patch === '' ? [] : [`the commit is not prepared: apply release.patch, commit it, and tag that v${version}`]),
    ...(tags.includes(`v${version}`) ? [] : [`the commit has no tag v${version}: git tag -s v${version}`]),
    ...(signed ? [] : ['there is no key: SIGNING_KEY=file']),
  ];
}

/** A script for whoever holds the credentials of the registries, to be run in the folder of the artifacts. */
export function publishScript(version: string, files: readonly string[]): string {
  const packages = files.filter((file) => file.startsWith('npm/'));
  const image = files.filter((file) => file.startsWith('image/') && file.endsWith('.oci.tar'));
  const chart = files.filter((file) => file.startsWith('chart/') && file.endsWith('.tgz'));
  return [
    '#!/bin/sh',
    `# Publishes Outrigger ${version}. REGISTRY: of images, with a path, such as registry.example/outrigger. Needs npm, skopeo and helm, signed in.`,
    'set -eu',
    'cd "$(dirname -- "$0")/artifacts"',
    'sha256sum --check --quiet SHA256SUMS',
    // What is no release yet must not be what `npm install` takes.
    ...packages.map((file) => `npm publish ./${file}${version.includes('-') ? ' --tag next' : ''}`),
    ...image.map(
      (file) =>
        `skopeo copy --preserve-digests oci-archive:${file} docker://"\${REGISTRY:?}"/cloud-controller-manager:v${version}`,
    ),
    ...chart.map((file) => `helm push ${file} oci://"\${REGISTRY:?}"/charts`),
    '',
  ].join('\n');
}
