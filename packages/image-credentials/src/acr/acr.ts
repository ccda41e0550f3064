/** Azure Container Registry: a token of Entra ID is exchanged for one of the registry. */
import { Failure } from '../failure.ts';
import { checkAllowed } from '../image-registry.ts';
import { textIn } from '../members.ts';
import { cacheTime, parseObject, type Credentials } from '../protocol.ts';
import type { ProviderCall } from '../provider.ts';
import { entraUrl } from './acr-registries.ts';

/** As in AKS. */
export const CLIENT_ANNOTATION = 'kubernetes.azure.com/acr-client-id';
export const TENANT_ANNOTATION = 'kubernetes.azure.com/acr-tenant-id';

/** That of every token of ACR. */
const USER_NAME = '00000000-0000-0000-0000-000000000000';

export async function acr(call: ProviderCall): Promise<Credentials> {
  const { clock, conceal, config, http, image } = call;
  checkAllowed(image, config.acr.registries, 'acr.registries');
  const { registry } = image;
  const tenant = call.request.serviceAccountAnnotations[TENANT_ANNOTATION] ?? config.acr.tenantId;
  const accessToken = await entraToken(call, tenant);
  conceal(accessToken);
  // Not where a challenge of the registry leads: the token goes to the registry that is on the list.
  const url = `${config.acr.exchangeUrl ?? `https://${registry}`}/oauth2/exchange`;
  const answer = await http.form(`the registry ${registry}`, url, {
    grant_type: 'access_token',
    service: registry,
    ...(tenant !== undefined && { tenant }),
    access_token: accessToken,
  });
  const password = textIn(answer, 'refresh_token', `the registry ${registry}`);
  conceal(password);
  return {
    username: USER_NAME,
    password,
    match: registry,
    cacheBy: 'Registry',
    cacheForMs: cacheTime(endOf(password), clock.now()),
  };
}

async function entraToken(call: ProviderCall, tenant: string | undefined): Promise<string> {
  const { config, readFile, request } = call;
  const { acr } = config;
  const own = request.serviceAccountAnnotations[CLIENT_ANNOTATION];
  const client = own ?? acr.clientId;
  if (own !== undefined && request.serviceAccountToken === undefined) {
    throw new Failure(
      'no-identity',
      `the annotation ${CLIENT_ANNOTATION} needs tokenAttributes in the CredentialProviderConfig`,
    );
  }
  if (request.serviceAccountToken !== undefined && client !== undefined) {
    return tokenOfClient(
      call,
      { client, tenant },
      {
        client_assertion_type: 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer',
        client_assertion: request.serviceAccountToken,
      },
    );
  }
  if (acr.clientSecretFile === undefined) return tokenOfManagedIdentity(call);
  const secret = (await readFile(acr.clientSecretFile, 'acr.clientSecretFile')).trim();
  call.conceal(secret);
  if (client === undefined || secret === '') {
    throw new Failure(
      'configuration',
      client === undefined ? 'acr.clientSecretFile needs acr.clientId' : `${acr.clientSecretFile} is empty`,
    );
  }
  return tokenOfClient(call, { client, tenant }, { client_secret: secret });
}

async function tokenOfClient(
  { config, http, image }: ProviderCall,
  { client, tenant }: { readonly client: string; readonly tenant: string | undefined },
  proof: Readonly<Record<string, string>>,
): Promise<string> {
  const login = config.acr.loginUrl ?? entraUrl(image.registry);
  if (login === undefined)
    throw new Failure('configuration', `which Entra ID is that of ${image.registry}? Set acr.loginUrl`);
  if (tenant === undefined)
    throw new Failure(
      'no-identity',
      `the client has no tenant: set acr.tenantId, or the annotation ${TENANT_ANNOTATION}`,
    );
  const answer = await http.form('Entra ID', `${login}/${encodeURIComponent(tenant)}/oauth2/v2.0/token`, {
    grant_type: 'client_credentials',
    client_id: client,
    scope: config.acr.scope,
    ...proof,
  });
  return textIn(answer, 'access_token', 'Entra ID');
}

async function tokenOfManagedIdentity({ config, http }: ProviderCall): Promise<string> {
  const service = 'the managed identity of the machine';
  const { managedIdentity, metadataUrl, scope } = config.acr;
  const query = new URLSearchParams({ 'api-version': '2018-02-01', resource: scope.replace(/\/\.default$/u, '') });
  if (managedIdentity !== undefined)
    query.set(managedIdentity.includes('/') ? 'msi_res_id' : 'client_id', managedIdentity);
  const url = `${metadataUrl}/metadata/identity/oauth2/token?${query.toString()}`;
  const answer = await http
    .object({ service, url, headers: { metadata: 'true' }, isMetadata: true })
    .catch((error: unknown) => {
      if (!(error instanceof Failure) || error.code !== 'refused') throw error;
      throw new Failure(
        'no-identity',
        `the machine has no such managed identity (${error.message}): assign it, or correct acr.managedIdentity`,
        { cause: error },
      );
    });
  return textIn(answer, 'access_token', service);
}

/** By the `exp` of a JWT, whose signature is the registry's affair. `undefined`: it is none. */
function endOf(token: string): number | undefined {
  const [, payload = ''] = token.split('.');
  const end = parseObject(Buffer.from(payload, 'base64url').toString('utf8'))?.['exp'];
  return typeof end === 'number' ? end * 1_000 : undefined;
}
