/** When a release may be published, and by which commands. Pure. */
import type { Report } from '../advisories/ask-registry.ts';

export interface Readiness {
  /** What `git status --porcelain` says. */
  readonly status: string;
  /** Tags of the commit. */
  readonly tags: readonly string[];
  readonly version: string;
  readonly signed: boolean;
  /** What has to change in the repository first. */
  readonly patch: string;
  /** What the registry of npm says of the dependencies. `undefined`: it was not asked. */
  readonly advisories: Pick<Report, 'refused' | 'unknown'> | undefined;
}

/** Why not, each with what to do. Empty: it may be. */
export function whyNotPublished(readiness: Readiness): readonly string[] {
  const {
    advisories: { refused, unknown } = { refused: [], unknown: [] },
    patch,
    signed,
    status,
    tags,
    version,
  } = readiness;
  return [
    ...(status === '' ? [] : ['the work tree is not clean: commit or remove what `git status` shows']),
    ...(patch === '' ? [] : [`the commit is not prepared: apply release.patch, commit it, and tag that v${version}`]),
    ...(tags.includes(`v${version}`) ? [] : [`the commit has no tag v${version}: git tag -s v${version}`]),
    ...(signed ? [] : ['there is no key: SIGNING_KEY=file']),
    ...(unknown.length === 0
      ? []
      : [
          `the registry did not say whether there are known vulnerabilities (${unknown.join('; ')}): ask one that does, such as npm_config_registry=https://registry.npmjs.org`,
        ]),
    ...(refused.length === 0
      ? []
      : [
          `there are known vulnerabilities that are not accepted (${refused.map(({ id }) => id).join(', ')}): run make advisories`,
        ]),
  ];
}

/** A tarball of a package that is to be published. */
export interface PackageToPublish {
  /** `@outrigger/kube`. */
  readonly name: string;
  /** In the folder of the artifacts: `npm/outrigger-kube-1.2.3.tgz`. */
  readonly file: string;
  /** As npm writes it: `sha512-` and the digest in base64. */
  readonly integrity: string;
  /** Names of packages. Those that are not published here do not count. */
  readonly dependencies: readonly string[];
}

/** Each after those that it depends on, else by name: whoever installs one while they are published finds what it needs. */
export function inOrderOfDependencies(packages: readonly PackageToPublish[]): readonly PackageToPublish[] {
  const ordered: PackageToPublish[] = [];
  const visit = (one: PackageToPublish, path: readonly string[]): void => {
    if (path.includes(one.name)) throw new Error(`packages depend on each other: ${[...path, one.name].join(' → ')}`);
    for (const needed of packages.filter(({ name }) => one.dependencies.includes(name)).toSorted(byName)) {
      visit(needed, [...path, one.name]);
    }
    if (!ordered.includes(one)) ordered.push(one);
  };
  for (const one of packages.toSorted(byName)) visit(one, []);
  return ordered;
}

function byName(a: PackageToPublish, b: PackageToPublish): number {
  return a.name < b.name ? -1 : 1;
}

/** Of one package: what is there with the same bytes is left alone, so that the script can be run again after a failure. */
const PUBLISH_PACKAGE = `publish() { # name@version, integrity, file, further arguments
  published=$(npm view "$1" dist.integrity 2>/dev/null || true)
  if [ "$published" = "$2" ]; then
    echo "$1 is published already"
  elif [ -n "$published" ]; then
    echo "$1 is published already, with other contents: $published" >&2
    exit 1
  else
    package=$3
    shift 3
    npm publish "./$package" "$@"
  fi
}`;

/**
 * A script for whoever holds the credentials of the registries, to be run in the folder of the artifacts. It ends at the first failure, and
 * goes on from there when it is run again.
 */
export function publishScript(
  version: string,
  files: readonly string[],
  packages: readonly PackageToPublish[],
): string {
  const images = files.filter((file) => file.startsWith('image') && file.endsWith('.oci.tar'));
  const nameOf = (file: string): string => file.slice(file.lastIndexOf('/') + 1, file.indexOf(`-${version}-`));
  const chart = files.filter((file) => file.startsWith('chart/') && file.endsWith('.tgz'));
  // What is no release yet must not be what `npm install` takes.
  const tag = version.includes('-') ? ' --tag next' : '';
  return [
    '#!/bin/sh',
    `# Publishes Outrigger ${version}. REGISTRY: of images, with a path, such as registry.example/outrigger. Needs npm, skopeo and helm, signed in.`,
    '# After a failure, run it again: what is published already is left alone.',
    'set -eu',
    ': "${REGISTRY:?}"',
    'cd "$(dirname -- "$0")/artifacts"',
    'sha256sum --check --quiet SHA256SUMS',
    PUBLISH_PACKAGE,
    ...inOrderOfDependencies(packages).map(
      ({ file, integrity, name }) => `publish ${name}@${version} ${integrity} ${file}${tag}`,
    ),
    ...images.map(
      (file) => `skopeo copy --preserve-digests oci-archive:${file} docker://"$REGISTRY"/${nameOf(file)}:v${version}`,
    ),
    ...chart.map((file) => `helm push ${file} oci://"$REGISTRY"/charts`),
    '',
  ].join('\n');
}
