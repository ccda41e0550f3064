/** What goes with each thing that is shipped and has packages of others in it: the bill of materials, and the licences of these packages. */
import { fileURLToPath } from 'node:url';
import { billOfMaterials, type Materials } from './bill-of-materials.ts';
import { bundledPackages } from './bundled-packages.ts';
import { licenceTexts } from './licence-texts.ts';
import { readLockFile } from './locked-packages.ts';
import type { SharedLibrary } from './shared-libraries.ts';
import type { ShippedNode } from './shipped-node.ts';

const repository = fileURLToPath(new URL('../../', import.meta.url));

export interface Shipped extends Pick<Materials, 'program' | 'purl' | 'version'> {
  /** Files that its bundles have something of, relative to the repository. */
  readonly inputs: readonly string[];
  /** Default: neither Node nor a library is in it. */
  readonly runtime?: { readonly node: ShippedNode; readonly libraries: readonly SharedLibrary[] };
}

export interface ThirdParty {
  /** CycloneDX, JSON. */
  readonly bill: string;
  readonly licences: string;
}

/** Throws where a package is not installed as the lock file has it. */
export function thirdParty({ inputs, runtime, ...of }: Shipped): ThirdParty {
  const lock = readLockFile(repository);
  const packages = bundledPackages(inputs, lock);
  const integrityOf = ({ name }: ShippedNode): string => lock.packages[`node_modules/${name}`]?.integrity ?? '';
  const bill = billOfMaterials({
    ...of,
    packages,
    ...(runtime && { runtime: { ...runtime, node: { ...runtime.node, integrity: integrityOf(runtime.node) } } }),
  });
  return { bill, licences: licenceTexts(packages, repository) };
}
