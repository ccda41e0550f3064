/** From the text of `cloud.conf` to the config: parsed, checked, `clouds.yaml` laid under it. Entry point of this folder. */
import { CloudError, type ConfigText } from '@outrigger/cloud-provider';
import { ConfigSyntaxError, didYouMean, parseGcfg, type GcfgEntry } from '@outrigger/provider-kit';
import {
  globalSection,
  loadBalancerClassSection,
  loadBalancerSection,
  metadataSection,
  networkingSection,
  routeSection,
} from './cloud-conf-keys.ts';
import type { CloudConfig, GlobalConfig, LoadBalancerClassConfig } from './cloud-config.ts';
import { readCloudsYaml } from './clouds-yaml.ts';
import { nameOf, readSection, type ReadSection, type Reporter } from './read-section.ts';

/** What is read besides the file. */
export interface ConfigEnvironment {
  /** `OS_CCM_REGIONAL`, `OS_CLIENT_CONFIG_FILE`, `OS_CLOUD`, `HTTPS_PROXY`, … */
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly workingDirectory: string;
  readonly homeDirectory: string;
}

/**
 * Throws `configuration` with one line for what a person has to correct. `warn` takes a line for what is read over: unknown
 * sections and keys, and values that cannot be used; `onFile` takes each file that is read besides. No message has a value of a key that may be secret in it.
 */
export async function readCloudConfig(
  config: ConfigText | undefined,
  environment: ConfigEnvironment,
  warn: (message: string) => void,
  onFile?: (fileName: string) => void,
): Promise<CloudConfig> {
  if (!config) {
    throw new CloudError('configuration', 'the openstack provider needs its cloud.conf: name it with --cloud-config');
  }
  const { fileName } = config;
  const reporter: Reporter = {
    refuse: (line, why) => {
      throw new CloudError('configuration', `${fileName}:${line}: ${why}`);
    },
    warn: (line, why) => warn(`${fileName}:${line}: ${why}`),
  };
  const entries = parse(config.text, reporter);
  warnOfUnknownSections(entries, reporter);
  const of = (name: string): readonly GcfgEntry[] => entries.filter((entry) => isOf(entry, name) && isPlain(entry));
  return {
    global: await withClouds(readSection(globalSection, of('Global'), reporter), fileName, environment, warn, onFile),
    networking: readSection(networkingSection, of('Networking'), reporter).values,
    loadBalancer: readSection(loadBalancerSection, of('LoadBalancer'), reporter).values,
    loadBalancerClasses: readClasses(entries, reporter),
    route: readSection(routeSection, of('Route'), reporter).values,
    metadata: readSection(metadataSection, of('Metadata'), reporter).values,
    // Only this very word, as upstream (pkg/openstack/instances.go, RegionalProviderIDEnv).
    regional: environment.env['OS_CCM_REGIONAL'] === 'true',
  };
}

function parse(text: string, reporter: Reporter): readonly GcfgEntry[] {
  try {
    return parseGcfg(text);
  } catch (error) {
    if (!(error instanceof ConfigSyntaxError)) throw error;
    return reporter.refuse(error.line, error.message);
  }
}

const PLAIN = [globalSection, networkingSection, loadBalancerSection, routeSection, metadataSection].map(
  ({ name }) => name,
);

function isOf({ section }: GcfgEntry, name: string): boolean {
  return section.toLowerCase() === name.toLowerCase();
}

function isPlain({ subsection }: GcfgEntry): boolean {
  return subsection === undefined;
}

function isClass(entry: GcfgEntry): boolean {
  return isOf(entry, loadBalancerClassSection.name);
}

function warnOfUnknownSections(entries: readonly GcfgEntry[], reporter: Reporter): void {
  for (const entry of entries) {
    if (entry.key !== undefined || isClass(entry)) continue;
    if (isPlain(entry) && PLAIN.some((name) => isOf(entry, name))) continue;
    const hint = isPlain(entry) ? didYouMean(entry.section, [...PLAIN, loadBalancerClassSection.name]) : '';
    reporter.warn(entry.line, `${nameOf(entry)}: there is no such section${hint}; it is ignored`);
  }
}

function readClasses(entries: readonly GcfgEntry[], reporter: Reporter): ReadonlyMap<string, LoadBalancerClassConfig> {
  const byName = Map.groupBy(entries.filter(isClass), ({ subsection }) => subsection);
  // Upstream makes a class whose name is empty of it, which no Service can ask for.
  for (const { key, line } of byName.get(undefined) ?? []) {
    if (key === undefined) reporter.warn(line, '[LoadBalancerClass] has no name; it is ignored');
  }
  const read = [...byName].flatMap(([name, own]) =>
    name === undefined ? [] : [[name, readSection(loadBalancerClassSection, own, reporter).values] as const],
  );
  return new Map(read);
}

/** What `cloud.conf` does not set, or sets to nothing, is taken from `clouds.yaml` (upstream: `ReadClouds`). */
async function withClouds(
  { values, set }: ReadSection<GlobalConfig>,
  fileName: string,
  environment: ConfigEnvironment,
  warn: (message: string) => void,
  onFile?: (fileName: string) => void,
): Promise<GlobalConfig> {
  if (!values.useClouds) return values;
  const { cloudsFile, cloud } = values;
  const found = await readCloudsYaml({ ...environment, cloudsFile, cloud, namedBy: fileName, warn, onFile });
  const own = Object.entries(values).filter(
    ([member, value]) => value !== undefined && (set.has(member as keyof GlobalConfig) || !(member in found)),
  );
  return { ...found, ...Object.fromEntries(own) } as GlobalConfig;
}
