/** From the `package.json` of the workspace, which names sources, to that of a tarball, which names what was built of them. Pure. */

/** The part of `package.json` that is read. What else is in it is published as it is. */
export interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly private?: boolean;
  readonly engines?: { readonly node?: string };
  /** Files with their extension `.ts`, relative to the package. */
  readonly sideEffects?: boolean | readonly string[];
  /** By subpath, the source file: `./src/index.ts`. */
  readonly exports?: Readonly<Record<string, string>>;
  /** By the name of a program, its source file. */
  readonly bin?: Readonly<Record<string, string>>;
  /** Folders that are published as they are, beside what is built: templates. */
  readonly files?: readonly string[];
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly devDependencies?: Readonly<Record<string, string>>;
}

/** What an import of a subpath finds. */
export type PublishedExport = string | { readonly types: string; readonly default: string };

/** The part of a tarball's `package.json` that is made here. */
export interface PublishedManifest {
  readonly engines: { readonly node?: string };
  readonly version: string;
  readonly sideEffects: boolean | readonly string[];
  readonly exports: Readonly<Record<string, PublishedExport>>;
  readonly bin?: Readonly<Record<string, string>>;
  readonly files: readonly string[];
  readonly publishConfig: { readonly access: 'public' };
}

const OURS = '@outrigger/';
const SOURCE = /^\.\/src\/(?<module>.+)\.ts$/u;

/**
 * `version`: of the tarball, and of every other package of ours that it depends on. Throws an `Error` that names the package and the
 * member for what cannot be published, or leaves a user in doubt.
 */
export function publishedManifest(manifest: Manifest, version: string): PublishedManifest {
  const { bin, dependencies, devDependencies: _, engines, exports, files = [], ...others } = manifest;
  const { private: kept, sideEffects, ...rest } = others;
  const refuse = (why: string): Error => new Error(`${manifest.name}: package.json ${why}`);
  // The folder of the workspace has sources, which Node refuses below node_modules: it must never get out by itself.
  if (kept !== true) throw refuse('must be "private": what is published is made from it by make packages');
  if (engines?.node === undefined) throw refuse('has no engines.node: say on which Node it runs');
  if (sideEffects === undefined)
    throw refuse('has no sideEffects: false, or the files that do something when imported');
  if (exports?.['.'] === undefined) throw refuse('has no exports["."]');
  const built = (file: string, extension: string): string => {
    const module = SOURCE.exec(file)?.groups?.['module'];
    if (module === undefined) throw refuse(`names ${file}; what is published is built from ./src/….ts`);
    return `./dist/${module}${extension}`;
  };
  return {
    ...rest,
    version,
    engines,
    sideEffects: sideEffects === true || sideEffects === false ? sideEffects : sideEffects.map((f) => built(f, '.js')),
    exports: {
      ...Object.fromEntries(
        Object.entries(exports).map(([subpath, file]) => [
          subpath,
          { types: built(file, '.d.ts'), default: built(file, '.js') },
        ]),
      ),
      './package.json': './package.json',
    },
    ...(bin && { bin: Object.fromEntries(Object.entries(bin).map(([name, file]) => [name, built(file, '.js')])) }),
    files: ['dist', ...files],
    ...(dependencies && {
      dependencies: Object.fromEntries(
        Object.entries(dependencies).map(([name, range]) => [name, name.startsWith(OURS) ? version : range]),
      ),
    }),
    // A scoped package is else published for members of the scope alone.
    publishConfig: { access: 'public' },
  };
}
