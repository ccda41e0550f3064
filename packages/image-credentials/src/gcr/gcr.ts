/** Google Artifact Registry and Container Registry. */
import { quote } from '@outrigger/cloud-provider';
import { Failure } from '../failure.ts';
import { checkAllowed } from '../image-registry.ts';
import { endBySeconds, textIn } from '../members.ts';
import { cacheTime, type Credentials } from '../protocol.ts';
import type { ProviderCall } from '../provider.ts';

/** As in GKE: the pod wants to pull by its own service account. */
export const OPT_IN_ANNOTATION = 'iam.gke.io/enable-wi-image-pull';
/** As in GKE: the Google service account that is impersonated. */
export const SERVICE_ACCOUNT_ANNOTATION = 'iam.gke.io/gcp-service-account';

const SCOPE = 'https://www.googleapis.com/auth/cloud-platform';

interface Token {
  readonly value: string;
  readonly expiresAt: number | undefined;
}

export async function gcr(call: ProviderCall): Promise<Credentials> {
  const { clock, conceal, config, image, request } = call;
  checkAllowed(image, config.gcr.registries, 'gcr.registries');
  const wantsOwn = request.serviceAccountAnnotations[OPT_IN_ANNOTATION] === 'true';
  const token = request.serviceAccountToken;
  if (wantsOwn && (token === undefined || config.gcr.audience === undefined)) {
    // Never by the node's identity: the pod asked for its own.
    throw new Failure(
      'no-identity',
      `the annotation ${OPT_IN_ANNOTATION} needs ${token === undefined ? 'tokenAttributes in the CredentialProviderConfig' : 'gcr.audience in the configuration'}`,
    );
  }
  const { expiresAt, value } =
    token !== undefined && config.gcr.audience !== undefined
      ? await tokenOfPod(call, token, config.gcr.audience)
      : await tokenOfNode(call);
  conceal(value);
  return {
    username: '_token',
    password: value,
    match: image.registry,
    cacheBy: 'Registry',
    cacheForMs: cacheTime(expiresAt, clock.now()),
  };
}

async function tokenOfNode({ clock, config, http }: ProviderCall): Promise<Token> {
  const service = 'the metadata server';
  const answer = await http
    .object({
      service,
      url: `${config.gcr.metadataUrl}/computeMetadata/v1/instance/service-accounts/default/token`,
      headers: { 'metadata-flavor': 'Google' },
      isMetadata: true,
    })
    .catch((error: unknown) => {
      if (!(error instanceof Failure) || error.code !== 'refused') throw error;
      throw new Failure('no-identity', 'the machine has no service account: give it one, or set gcr.audience', {
        cause: error,
      });
    });
  return { value: textIn(answer, 'access_token', service), expiresAt: endBySeconds(answer['expires_in'], clock.now()) };
}

async function tokenOfPod(call: ProviderCall, subject: string, audience: string): Promise<Token> {
  const { clock, conceal, config, http, request } = call;
  const answer = await http.form('STS', `${config.gcr.stsUrl}/v1/token`, {
    grant_type: 'urn:ietf:params:oauth:grant-type:token-exchange',
    requested_token_type: 'urn:ietf:params:oauth:token-type:access_token',
    subject_token_type: 'urn:ietf:params:oauth:token-type:jwt',
    audience,
    scope: SCOPE,
    subject_token: subject,
  });
  const federated = {
    value: textIn(answer, 'access_token', 'STS'),
    expiresAt: endBySeconds(answer['expires_in'], clock.now()),
  };
  conceal(federated.value);
  const account = request.serviceAccountAnnotations[SERVICE_ACCOUNT_ANNOTATION] ?? config.gcr.serviceAccount;
  return account === undefined ? federated : impersonate(call, account, federated.value);
}

async function impersonate({ config, http }: ProviderCall, account: string, token: string): Promise<Token> {
  if (!/^[\w.-]{1,64}@[\w.-]{1,190}$/u.test(account)) {
    throw new Failure('no-identity', `${quote(account)} is no e-mail address of a Google service account`);
  }
  const service = 'IAM Credentials';
  const answer = await http.object({
    service,
    method: 'POST',
    url: `${config.gcr.iamCredentialsUrl}/v1/projects/-/serviceAccounts/${encodeURIComponent(account)}:generateAccessToken`,
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ scope: [SCOPE] }),
  });
  const end = Date.parse(String(answer['expireTime']));
  return { value: textIn(answer, 'accessToken', service), expiresAt: Number.isNaN(end) ? undefined : end };
}
