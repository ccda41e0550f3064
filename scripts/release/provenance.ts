/** Where the artifacts of a release come from: an in-toto statement v1 with a predicate of SLSA provenance v1. Pure. */

export interface Subject {
  readonly name: string;
  /** In hex. */
  readonly sha256: string;
}

export interface Provenance {
  readonly version: string;
  /** Of Git. */
  readonly commit: string;
  /** Every artifact. */
  readonly subjects: readonly Subject[];
  /** What it was built with: the lock file, Node. */
  readonly materials: readonly Subject[];
}

/** Described in docs/guides/verify-a-release.md. */
const BUILD_TYPE = 'https://outrigger.dev/build-types/make-release/v1';
/** The machine of whoever holds the key: no service stands for it. */
const BUILDER = 'https://outrigger.dev/builders/key-holder/v1';

/** JSON text, the same for the same release: it holds no time and no name of a machine. */
export function provenanceOf({ commit, materials, subjects, version }: Provenance): string {
  const statement = {
    _type: 'https://in-toto.io/Statement/v1',
    subject: subjects.map(({ name, sha256 }) => ({ name, digest: { sha256 } })),
    predicateType: 'https://slsa.dev/provenance/v1',
    predicate: {
      buildDefinition: {
        buildType: BUILD_TYPE,
        externalParameters: { version, commit },
        internalParameters: {},
        resolvedDependencies: [
          { name: 'source', digest: { gitCommit: commit } },
          ...materials.map(({ name, sha256 }) => ({ name, digest: { sha256 } })),
        ],
      },
      runDetails: { builder: { id: BUILDER } },
    },
  };
  return `${JSON.stringify(statement)}\n`;
}
