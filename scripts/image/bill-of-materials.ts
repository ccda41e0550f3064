/** What an image holds that is not ours, as CycloneDX. */
import { Enums, Models, Serialize, Spec } from '@cyclonedx/cyclonedx-library';
import type { BundledPackage } from './bundled-packages.ts';
import type { SharedLibrary, SystemPackage } from './shared-libraries.ts';

/** The newest version of the format that scanners in use read. */
const SPECIFICATION = Spec.Spec1dot6;

export interface Materials {
  /** Of Outrigger. */
  readonly version: string;
  readonly packages: readonly BundledPackage[];
  /** Of Node, without `v`. */
  readonly nodeVersion: string;
  readonly libraries: readonly SharedLibrary[];
}

/** JSON text. The same for the same materials: without a time and a serial number. */
export function billOfMaterials({ libraries, nodeVersion, packages, version }: Materials): string {
  const program = new Models.Component(Enums.ComponentType.Application, 'cloud-controller-manager', {
    bomRef: 'cloud-controller-manager',
    group: 'outrigger',
    version,
    purl: `pkg:oci/cloud-controller-manager?tag=v${version}`,
    licenses: licence('Apache-2.0'),
  });
  const bom = new Models.Bom({ metadata: new Models.Metadata({ component: program }) });
  const node = new Models.Component(Enums.ComponentType.Platform, 'node', {
    bomRef: `node@${nodeVersion}`,
    version: nodeVersion,
    purl: `pkg:generic/node@${nodeVersion}`,
    cpe: `cpe:2.3:a:nodejs:node.js:${nodeVersion}:*:*:*:*:*:*:*`,
    licenses: licence('MIT'),
  });
  bom.components.add(node);
  program.dependencies.add(node.bomRef);
  const byPath = new Map(packages.map((one) => [one.path, npmComponent(one)]));
  for (const { dependsOn, direct, path } of packages) {
    const component = byPath.get(path)!;
    bom.components.add(component);
    if (direct) program.dependencies.add(component.bomRef);
    for (const other of dependsOn) component.dependencies.add(byPath.get(other)!.bomRef);
  }
  for (const component of systemComponents(libraries)) {
    bom.components.add(component);
    node.dependencies.add(component.bomRef);
  }
  const serializer = new Serialize.JsonSerializer(new Serialize.JSON.Normalize.Factory(SPECIFICATION));
  return `${serializer.serialize(bom, { sortLists: true, space: 2 })}\n`;
}

function licence(expression: string): Models.LicenseRepository {
  const compound = /[ ()]/u.test(expression);
  return new Models.LicenseRepository([
    compound ? new Models.LicenseExpression(expression) : new Models.SpdxLicense(expression),
  ]);
}

function npmComponent({ license, name, path, version }: BundledPackage): Models.Component {
  const [scope, plain] = name.startsWith('@') ? (name.split('/') as [string, string]) : [undefined, name];
  return new Models.Component(Enums.ComponentType.Library, plain, {
    bomRef: path,
    ...(scope === undefined ? {} : { group: scope }),
    version,
    purl: `pkg:npm/${scope === undefined ? '' : `${encodeURIComponent(scope)}/`}${plain}@${encodeURIComponent(version)}`,
    licenses: licence(license),
  });
}

/** A package of the distribution once, however many files are of it; a file by itself where no package is known. */
function systemComponents(libraries: readonly SharedLibrary[]): readonly Models.Component[] {
  const sources = new Map(libraries.map(({ path, source }) => [source?.name ?? path, source]));
  return [...sources].map(([name, source]) =>
    source
      ? new Models.Component(Enums.ComponentType.Library, name, {
          bomRef: `${source.vendor}/${name}`,
          version: source.version,
          purl: debianPurl(source),
        })
      : new Models.Component(Enums.ComponentType.File, name, { bomRef: name }),
  );
}

function debianPurl({ architecture, distribution, name, vendor, version }: SystemPackage): string {
  const at = encodeURIComponent(version);
  return `pkg:deb/${vendor}/${encodeURIComponent(name)}@${at}?arch=${architecture}&distro=${distribution}`;
}
