/** Amazon ECR, private and public. */
import { Failure } from '../failure.ts';
import { checkAllowed } from '../image-registry.ts';
import { textIn } from '../members.ts';
import { cacheTime, type Credentials } from '../protocol.ts';
import type { ProviderCall } from '../provider.ts';
import { awsKeys } from './aws-keys.ts';
import { ecrRegistry } from './ecr-registry.ts';
import { signedHeaders } from './signed-request.ts';

export async function ecr(call: ProviderCall): Promise<Credentials> {
  const { clock, conceal, config, http, image } = call;
  checkAllowed(image, config.ecr.registries, 'ecr.registries');
  const registry = ecrRegistry(image.registry);
  if (!registry) throw new Failure('registry-not-allowed', `${image.registry} is no registry of ECR: nothing was sent`);
  const keys = await awsKeys(call, registry);
  const { account, region } = registry;
  const isPrivate = account !== undefined;
  const url = `${(isPrivate ? config.ecr.ecrUrl : config.ecr.ecrPublicUrl) ?? registry.apiUrl}/`;
  const target = isPrivate ? 'AmazonEC2ContainerRegistry_V20150921' : 'SpencerFrontendService';
  const headers = {
    'content-type': 'application/x-amz-json-1.1',
    'x-amz-target': `${target}.GetAuthorizationToken`,
  };
  const body = JSON.stringify(isPrivate ? { registryIds: [account] } : {});
  const place = { service: isPrivate ? 'ecr' : 'ecr-public', region, now: clock.now() };
  const service = isPrivate ? 'ECR' : 'ECR Public';
  const answer = await http.object({
    service,
    method: 'POST',
    url,
    headers: await signedHeaders({ url, headers, body }, keys, place),
    body,
  });
  const { authorizationToken, expiresAt } = dataIn(answer['authorizationData'], service);
  conceal(authorizationToken);
  const [username = '', ...rest] = Buffer.from(authorizationToken, 'base64').toString('utf8').split(':');
  const password = rest.join(':');
  if (username === '' || password === '')
    throw new Failure('bad-answer', `the token of ${service} is no user name and password`);
  return {
    username,
    password,
    match: image.registry,
    cacheBy: 'Registry',
    cacheForMs: cacheTime(expiresAt, clock.now()),
  };
}

/** Of private registries a list, of the public one an object. */
function dataIn(
  found: unknown,
  service: string,
): { readonly authorizationToken: string; readonly expiresAt: number | undefined } {
  const first: unknown = Array.isArray(found) ? found[0] : found;
  const data = typeof first === 'object' && first !== null ? (first as Readonly<Record<string, unknown>>) : {};
  const end = data['expiresAt'];
  return {
    authorizationToken: textIn(data, 'authorizationToken', service),
    expiresAt: typeof end === 'number' ? end * 1_000 : undefined,
  };
}
