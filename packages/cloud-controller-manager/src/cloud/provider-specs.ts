/** `--cloud-provider` and `--cloud-config`, taken apart. Pure. */
import { FlagError } from '@outrigger/controller-manager';

/** One provider that `--cloud-provider` names. */
export interface ProviderSpec {
  /** A built-in name, an npm package or the path of a module. */
  readonly spec: string;
  /** The name that it is to have; `undefined`: its own. */
  readonly name: string | undefined;
}

/** A file is not mistaken for a name: `./a=b.ts` has none. */
const NAMED = /^([a-z0-9](?:[a-z0-9-]*[a-z0-9])?)=(.*)$/s;

/** `a,b` or `north=a,south=a`. Throws a `FlagError`. */
export function parseProviderSpecs(flag: string): readonly ProviderSpec[] {
  return flag.split(',').map((part) => {
    const [, name, spec = part] = NAMED.exec(part) ?? [];
    if (spec.trim() === '') throw refuse(`--cloud-provider=${flag}: a provider is missing between the commas`);
    if (spec === 'external') {
      throw refuse('--cloud-provider=external is for the kubelet; here, name the provider itself');
    }
    return { spec, name };
  });
}

/**
 * By name of the provider, its file. One provider: the whole value is its file. Several: `a=a.json,b=b.json`, and one that is not
 * named has none. Throws a `FlagError`.
 */
export function parseCloudConfigs(flag: string, names: readonly string[]): ReadonlyMap<string, string> {
  const [first = ''] = names;
  const files = new Map<string, string>();
  if (flag === '') return files;
  if (names.length === 1 && !flag.startsWith(`${first}=`)) return files.set(first, flag);
  for (const part of flag.split(',')) {
    const [, name = '', file = ''] = NAMED.exec(part) ?? [];
    if (!names.includes(name) || file === '') {
      throw refuse(
        `--cloud-config=${flag}: with the providers ${names.join(', ')} each file must be given as <provider>=<file>, not as ${JSON.stringify(part)}`,
      );
    }
    if (files.has(name)) throw refuse(`--cloud-config=${flag}: there are two files for the provider ${name}`);
    files.set(name, file);
  }
  return files;
}

function refuse(message: string): FlagError {
  return new FlagError('invalid-flag', message);
}
