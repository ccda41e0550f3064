/** What an image or an archive holds that is not ours, as CycloneDX. */
import { Enums, Models, Serialize, Spec } from '@cyclonedx/cyclonedx-library';
import type { BundledPackage } from './bundled-packages.ts';
import type { SharedLibrary, SystemPackage } from './shared-libraries.ts';

/** The newest version of the format that scanners in use read. */
const SPECIFICATION = Spec.Spec1dot6;

export interface Materials {
  readonly program: string;
  /** Of the program, as it is shipped. */
  readonly purl: string;
  /** Of Outrigger. */
  readonly version: string;
  readonly packages: readonly BundledPackage[];
  /** Default: neither is in it. */
  readonly runtime?: { readonly node: NodeBinary; readonly libraries: readonly SharedLibrary[] };
}

interface NodeBinary {
  /** Of the npm package that it is of. */
  readonly name: string;
  /** Without `v`. */
  readonly version: string;
  /** Of the binary, in hex. */
  readonly sha256: string;
  /** Of the package: `sha512-` and base64. */
  readonly integrity: string;
}

/** JSON text. The same for the same materials: without a time and a serial number. */
export function billOfMaterials({ packages, program: name, purl, runtime, version }: Materials): string {
  const program = new Models.Component(Enums.ComponentType.Application, name, {
    bomRef: name,
    group: 'outrigger',
    version,
    purl,
    licenses: licence('Apache-2.0'),
  });
  const bom = new Models.Bom({ metadata: new Models.Metadata({ component: program }) });
  const byPath = new Map(packages.map((one) => [one.path, npmComponent(one)]));
  for (const { dependsOn, direct, path } of packages) {
    const component = byPath.get(path)!;
    bom.components.add(component);
    if (direct) program.dependencies.add(component.bomRef);
    for (const other of dependsOn) component.dependencies.add(byPath.get(other)!.bomRef);
  }
  if (runtime) {
    const node = nodeComponent(runtime.node);
    bom.components.add(node);
    program.dependencies.add(node.bomRef);
    for (const component of systemComponents(runtime.libraries)) {
      bom.components.add(component);
      node.dependencies.add(component.bomRef);
    }
  }
  const serializer = new Serialize.JsonSerializer(new Serialize.JSON.Normalize.Factory(SPECIFICATION));
  return `${serializer.serialize(bom, { sortLists: true, space: 2 })}\n`;
}

function nodeComponent({ integrity, name, sha256, version }: NodeBinary): Models.Component {
  const node = new Models.Component(Enums.ComponentType.Platform, 'node', {
    bomRef: `node@${version}`,
    version,
    purl: `pkg:generic/node@${version}`,
    cpe: `cpe:2.3:a:nodejs:node.js:${version}:*:*:*:*:*:*:*`,
    licenses: licence('MIT'),
    hashes: new Models.HashDictionary([[Enums.HashAlgorithm['SHA-256'], sha256]]),
  });
  // What the binary was taken from.
  node.components.add(
    new Models.Component(Enums.ComponentType.Library, name, {
      bomRef: `node_modules/${name}`,
      version,
      purl: `pkg:npm/${name}@${version}`,
      hashes: sha512Of(integrity),
    }),
  );
  return node;
}

function licence(expression: string): Models.LicenseRepository {
  const compound = /[ ()]/u.test(expression);
  return new Models.LicenseRepository([
    compound ? new Models.LicenseExpression(expression) : new Models.SpdxLicense(expression),
  ]);
}

/** From npm's notation to hex. Throws for another algorithm. */
function sha512Of(integrity: string): Models.HashDictionary {
  const base64 = /^sha512-([\w+/]+=*)$/u.exec(integrity)?.[1];
  if (base64 === undefined) throw new Error(`${JSON.stringify(integrity)} is no SHA-512 of the lock file`);
  return new Models.HashDictionary([[Enums.HashAlgorithm['SHA-512'], Buffer.from(base64, 'base64').toString('hex')]]);
}

function npmComponent({ integrity, license, name, path, version }: BundledPackage): Models.Component {
  const [scope, plain] = name.startsWith('@') ? (name.split('/') as [string, string]) : [undefined, name];
  return new Models.Component(Enums.ComponentType.Library, plain, {
    bomRef: path,
    ...(scope === undefined ? {} : { group: scope }),
    version,
    purl: `pkg:npm/${scope === undefined ? '' : `${encodeURIComponent(scope)}/`}${plain}@${encodeURIComponent(version)}`,
    licenses: licence(license),
    hashes: sha512Of(integrity),
  });
}

/** A package of the distribution once, with the files of it that are here; a file by itself where no package is known. */
function systemComponents(libraries: readonly SharedLibrary[]): readonly Models.Component[] {
  const components = new Map<string, Models.Component>();
  for (const library of libraries) {
    const { path, source } = library;
    const file = fileComponent(library);
    if (!source) {
      components.set(path, file);
      continue;
    }
    const component = components.get(source.name) ?? packageComponent(source);
    component.components.add(file);
    components.set(source.name, component);
  }
  return [...components.values()];
}

function packageComponent(source: SystemPackage): Models.Component {
  const { name, terms, vendor, version } = source;
  return new Models.Component(Enums.ComponentType.Library, name, {
    bomRef: `${vendor}/${name}`,
    version,
    purl: debianPurl(source),
    components: new Models.ComponentRepository(terms ? [fileComponent(terms)] : []),
  });
}

function fileComponent({ path, sha256 }: { readonly path: string; readonly sha256: string }): Models.Component {
  const hashes = new Models.HashDictionary([[Enums.HashAlgorithm['SHA-256'], sha256]]);
  return new Models.Component(Enums.ComponentType.File, path, { bomRef: path, hashes });
}

function debianPurl({ architecture, distribution, name, vendor, version }: SystemPackage): string {
  const at = encodeURIComponent(version);
  return `pkg:deb/${vendor}/${encodeURIComponent(name)}@${at}?arch=${architecture}&distro=${distribution}`;
}
