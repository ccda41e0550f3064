/** The API of the cloud: how it is reached, and what its errors mean. */
import type { ConfigText, ProviderHost } from '@outrigger/cloud-provider';
import {
  HttpClient,
  nextByToken,
  readConfig,
  required,
  RestCollection,
  secret,
  text,
  url,
} from '@outrigger/provider-kit';

/** The prefix of provider IDs, too: `my-cloud://srv-1`. */
export const NAME = 'my-cloud';

/** The keys of the file that `--cloud-config` names. */
const schema = {
  endpoint: required(url, 'root of the API'),
  token: secret(required(text, 'token of the account')),
};

/** Throws a `CloudError` that names file, line and key. */
export function checkConfig(config: ConfigText | undefined): void {
  readConfig(schema, config, { provider: NAME });
}

export function connect(host: ProviderHost): HttpClient {
  const { endpoint, token } = readConfig(schema, host.config, { provider: NAME, host });
  return new HttpClient({
    host,
    cloud: 'My Cloud',
    root: endpoint,
    headers: { authorization: `Bearer ${token}` },
    errors: [
      { status: 404, code: 'not_found', means: 'not-found' },
      { code: 'quota', means: 'quota' },
    ],
  });
}

/** What can be listed at a path (`/servers`), read, created, changed and deleted. */
export function collection<Resource>(api: HttpClient, path: `/${string}`): RestCollection<Resource> {
  const next = nextByToken('page', (body) => (body as { readonly next?: number }).next);
  return new RestCollection<Resource>(api, path, { items: 'items', next });
}
