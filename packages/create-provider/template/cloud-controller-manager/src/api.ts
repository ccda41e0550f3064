/** The cloud's REST API: how it is reached, what its errors mean, and the things that it has. The first file to change. */
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
  type Attributes,
} from '@outrigger/provider-kit';

/** Before the `://` of provider IDs, and the name for `--cloud-provider`. */
export const PROVIDER_NAME = 'my-cloud';

/** What `--cloud-config` says. */
export interface Settings {
  readonly endpoint: string;
  readonly token: string;
}

/** Its keys. The table of docs/cloud-controller-manager.md can be made of them: `configTable(schema)`. */
const schema = {
  endpoint: required(url, 'Root of the API'),
  token: secret(required(text, 'Token of the account')),
};

/** Throws a `CloudError` `configuration` that names file, line and key. With `host`, what is secret is redacted from now on. */
export function readSettings(config: ConfigText | undefined, host?: Pick<ProviderHost, 'logger' | 'redact'>): Settings {
  return readConfig(schema, config, { provider: PROVIDER_NAME, ...(host && { host }) });
}

export function connect(host: ProviderHost): HttpClient {
  const { endpoint, token } = readSettings(host.config, host);
  return new HttpClient({
    host,
    cloud: 'My Cloud',
    root: endpoint,
    headers: { authorization: `Bearer ${token}` },
    errors: [
      // On this one a node is deleted: only the cloud's own word about this very ID may mean it, and no 404 of a proxy.
      { status: 404, code: 'not_found', means: 'not-found' },
      { code: 'quota_exceeded', means: 'quota' },
      { code: 'in_use', means: 'conflict' },
    ],
  });
}

export interface Thing extends Attributes {
  readonly id: string;
  /** Whose it is: see `tagsOf` and `ownerIn` of the kit. */
  readonly labels?: Readonly<Record<string, string>>;
}

/** Things behind one path, all pages of them. */
export function thingsAt<T extends Thing>(api: HttpClient, path: `/${string}`): RestCollection<T> {
  const next = nextByToken('page', (body) => (body as { readonly next?: number }).next);
  return new RestCollection<T>(api, path, { items: 'items', next });
}
