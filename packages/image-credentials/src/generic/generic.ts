/** Any other registry: what a file says, or what a token of the pod's service account is exchanged for. */
import type { GenericRegistryConfig } from '../config.ts';
import { Failure } from '../failure.ts';
import { matches, parsePattern, type ImageName, type RegistryPattern } from '../image-registry.ts';
import { endBySeconds, textIn } from '../members.ts';
import { cacheTime, type Credentials } from '../protocol.ts';
import type { ProviderCall } from '../provider.ts';
import { readDockerConfig } from './docker-config.ts';

type Login = Pick<Credentials, 'username' | 'password' | 'cacheForMs'>;

interface Candidate {
  readonly pattern: RegistryPattern;
  readonly login: () => Promise<Login>;
}

export async function generic(call: ProviderCall): Promise<Credentials> {
  const { conceal, config, image } = call;
  const { cacheFor, dockerConfigFile, registries } = config.generic;
  const listed = [...registries].map(([name, registry]): Candidate => ({
    pattern: parsePattern(name),
    login: () => loginOf(call, name, registry),
  }));
  // What the configuration names itself comes first.
  const own = bestOf(listed, image);
  const inFile =
    own || dockerConfigFile === undefined
      ? []
      : readDockerConfig(await call.readFile(dockerConfigFile, 'generic.dockerConfigFile'), dockerConfigFile);
  const best =
    own ??
    bestOf(
      inFile.map(({ login, pattern }) => ({
        pattern,
        login: async () => ({ ...login(), cacheForMs: cacheFor }),
      })),
      image,
    );
  if (!best) {
    const places = `generic.registries${dockerConfigFile === undefined ? '' : ` nor in ${dockerConfigFile}`}`;
    throw new Failure(
      'registry-not-allowed',
      `${image.registry}/${image.repository} is not in ${places}: nothing was sent`,
    );
  }
  const login = await best.login();
  conceal(login.password);
  const { path } = best.pattern;
  // By the registry only where nothing can be asked of it by a path: another path may have another secret.
  const hasPaths = [...listed, ...inFile].some(({ pattern }) => pattern.path !== '');
  return {
    ...login,
    match: path === '' ? image.registry : `${image.registry}/${path}`,
    cacheBy: hasPaths || dockerConfigFile !== undefined ? 'Image' : 'Registry',
  };
}

/** The longest path; of two the one without `*`. */
function bestOf<T extends Pick<Candidate, 'pattern'>>(candidates: readonly T[], image: ImageName): T | undefined {
  const rank = ({ pattern }: T): number => pattern.path.length * 2 + (pattern.hasWildcard ? 0 : 1);
  return candidates.filter(({ pattern }) => matches(pattern, image)).toSorted((a, b) => rank(b) - rank(a))[0];
}

async function loginOf(call: ProviderCall, name: string, registry: GenericRegistryConfig): Promise<Login> {
  const { exchangeUrl, passwordFile, username } = registry;
  const key = `generic.registries.${name}`;
  if ((exchangeUrl === undefined) === (passwordFile === undefined)) {
    throw new Failure('configuration', `${key} needs passwordFile or exchangeUrl, and not both`);
  }
  if (exchangeUrl !== undefined) return exchange(call, exchangeUrl, registry);
  if (username === undefined) throw new Failure('configuration', `${key}.passwordFile needs ${key}.username`);
  const password = (await call.readFile(passwordFile ?? '', `${key}.passwordFile`)).trim();
  if (password === '') throw new Failure('configuration', `${passwordFile} is empty (${key}.passwordFile)`);
  return { username, password, cacheForMs: call.config.generic.cacheFor };
}

/** RFC 8693. */
async function exchange(
  { clock, http, request }: ProviderCall,
  url: string,
  { audience, scope, username }: GenericRegistryConfig,
): Promise<Login> {
  const token = request.serviceAccountToken;
  if (token === undefined) {
    throw new Failure(
      'no-identity',
      'the exchange needs the token of a service account: set tokenAttributes in the CredentialProviderConfig',
    );
  }
  const answer = await http.form('the token exchange', url, {
    grant_type: 'urn:ietf:params:oauth:grant-type:token-exchange',
    requested_token_type: 'urn:ietf:params:oauth:token-type:access_token',
    subject_token_type: 'urn:ietf:params:oauth:token-type:jwt',
    subject_token: token,
    ...(audience !== undefined && { audience }),
    ...(scope !== undefined && { scope }),
  });
  const expiresAt = endBySeconds(answer['expires_in'], clock.now());
  return {
    username: username ?? 'oauth2',
    password: textIn(answer, 'access_token', 'the token exchange'),
    cacheForMs: cacheTime(expiresAt, clock.now()),
  };
}
