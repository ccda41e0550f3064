/** A Docker `config.json`, as a Secret of type `kubernetes.io/dockerconfigjson` holds it. */
import { Failure } from '../failure.ts';
import { parsePattern, type RegistryPattern } from '../image-registry.ts';
import { parseObject } from '../protocol.ts';

interface DockerLogin {
  readonly username: string;
  readonly password: string;
}

export interface DockerEntry {
  readonly pattern: RegistryPattern;
  /** Throws `configuration` where the entry has no login that can be used. */
  readonly login: () => DockerLogin;
}

const HUB = /^(?:https:\/\/)?(?:index\.docker\.io|registry-1\.docker\.io|docker\.io)(?:\/v[12]\/?)?$/u;

/**
 * Throws `configuration`, with nothing of the file but the names of registries. What is wrong with one entry holds up no other: an entry
 * whose name is no registry is that of no image.
 */
export function readDockerConfig(text: string, fileName: string): readonly DockerEntry[] {
  const auths = parseObject(text)?.['auths'];
  if (typeof auths !== 'object' || auths === null) {
    throw new Failure('configuration', `${fileName} is no Docker config.json: it has no map "auths"`);
  }
  return Object.entries(auths as Readonly<Record<string, unknown>>).flatMap(([name, entry]) => {
    const pattern = patternOf(name);
    if (!pattern) return [];
    const login = (): DockerLogin => {
      const found = loginIn(entry);
      if (found) return found;
      throw new Failure(
        'configuration',
        `${fileName}: ${name} has neither "auth" nor "username" and "password"; helpers and identity tokens are not supported`,
      );
    };
    return [{ pattern, login }];
  });
}

function patternOf(name: string): RegistryPattern | undefined {
  const registry = HUB.test(name) ? 'docker.io' : name.replace(/^https?:\/\//u, '').replace(/\/v[12]\/?$/u, '');
  try {
    return parsePattern(registry);
  } catch {
    return undefined;
  }
}

function loginIn(entry: unknown): DockerLogin | undefined {
  if (typeof entry !== 'object' || entry === null) return undefined;
  const { auth, password, username } = entry as Readonly<Record<string, unknown>>;
  if (typeof username === 'string' && username !== '' && typeof password === 'string' && password !== '')
    return { username, password };
  if (typeof auth !== 'string') return undefined;
  const [name = '', ...rest] = Buffer.from(auth, 'base64').toString('utf8').split(':');
  const secret = rest.join(':');
  return name === '' || secret === '' ? undefined : { username: name, password: secret };
}
