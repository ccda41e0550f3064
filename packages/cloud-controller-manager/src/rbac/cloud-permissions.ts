/** What the clouds have to grant, from the controllers that run: lines that stand before what the API server has to grant. */
import type { Capabilities } from '@outrigger/cloud-provider';
import type { Environment } from '../program/environment.ts';
import { loadProviderSpec } from '../cloud/load-provider-spec.ts';
import type { CloudOptions } from '../options/cloud-flags.ts';
import { parseProviderSpecs } from '../cloud/provider-specs.ts';

/**
 * As comments of YAML. Empty without `--cloud-provider`, and for a provider that states nothing. One that is not here (its module is
 * in the image alone) is said to be unknown.
 */
export async function cloudPermissions(
  cloud: Pick<CloudOptions, 'cloudProvider' | 'providerPath'>,
  uses: ReadonlySet<keyof Capabilities>,
  environment: Pick<Environment, 'builtInProviders' | 'workingDirectory'>,
): Promise<string> {
  if (cloud.cloudProvider === '') return '';
  const lines: string[] = [];
  for (const spec of parseProviderSpecs(cloud.cloudProvider)) {
    try {
      const provider = await loadProviderSpec(spec, cloud, environment);
      const granted = Object.entries(provider.permissions ?? {}).filter(([one]) => uses.has(one as keyof Capabilities));
      if (granted.length === 0) continue;
      lines.push(`In the cloud ${provider.name}, these controllers need:`);
      for (const [capability, words] of granted) lines.push(`  ${capability}: ${oneLine(words.join('; '))}`);
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      lines.push(`What they need in the cloud is unknown: ${oneLine(why)}`);
    }
  }
  return lines.map((line) => `# ${line}\n`).join('');
}

/** Nothing may end the comment. */
function oneLine(text: string): string {
  return text.replaceAll(/\s+/gu, ' ');
}
