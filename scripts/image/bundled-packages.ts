/** Which npm packages a bundle holds, by its inputs and the lock file. Pure. */

/** The part of `package-lock.json` that is read. */
export interface LockFile {
  readonly packages: Readonly<Record<string, LockedPackage>>;
}

interface LockedPackage {
  readonly version?: string;
  readonly license?: string;
  /** `sha512-` and base64. */
  readonly integrity?: string;
  readonly link?: boolean;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly devDependencies?: Readonly<Record<string, string>>;
}

export interface BundledPackage {
  /** Key in the lock file: `node_modules/a/node_modules/b`. */
  readonly path: string;
  readonly name: string;
  readonly version: string;
  /** SPDX expression. */
  readonly license: string;
  /** Of the tarball: `sha512-` and base64. */
  readonly integrity: string;
  /** Bundled packages that it depends on, by path. */
  readonly dependsOn: readonly string[];
  /** Whether our own code asks for it. */
  readonly direct: boolean;
}

/**
 * `inputs`: files that bundles have something of, relative to the repository. Throws for a package that the lock file does not
 * have, or has without a version, a licence or a hash: what is shipped has to be known.
 */
export function bundledPackages(inputs: readonly string[], lock: LockFile): readonly BundledPackage[] {
  const paths = new Set(inputs.map(packagePathOf).filter((path) => path !== undefined));
  const ours = Object.entries(lock.packages).filter(([path]) => !path.includes('node_modules'));
  // Packages that the page of `outrigger ui` is made of are there for development: it is built before it is shipped.
  const wanted = new Set(
    ours.flatMap(([from, { dependencies, devDependencies }]) =>
      Object.keys({ ...dependencies, ...devDependencies }).map((name) => resolve(name, from, lock)),
    ),
  );
  return [...paths].sort().map((path) => {
    const { dependencies = {}, integrity, license, version } = lock.packages[path] ?? {};
    if (version === undefined || license === undefined || integrity === undefined) {
      throw new Error(`${path} is in the bundle, and the lock file does not say its version, its licence and its hash`);
    }
    return {
      path,
      name: nameOf(path),
      version,
      license,
      integrity,
      dependsOn: Object.keys(dependencies)
        .map((name) => resolve(name, path, lock))
        .filter((found) => found !== undefined)
        .filter((found) => paths.has(found))
        .sort(),
      direct: wanted.has(path),
    };
  });
}

function packagePathOf(input: string): string | undefined {
  return /^(?:.*\/)?node_modules\/(?:@[^/]+\/)?[^/]+(?=\/)/u.exec(input)?.[0];
}

function nameOf(path: string): string {
  return path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length);
}

/** Node's way: the nearest `node_modules`, from the inside out. */
function resolve(name: string, from: string, { packages }: LockFile): string | undefined {
  for (let place = from; ; place = place.slice(0, Math.max(0, place.lastIndexOf('/')))) {
    const path = `${place === '' ? '' : `${place}/`}node_modules/${name}`;
    if (packages[path]) return path;
    if (place === '') return undefined;
  }
}
