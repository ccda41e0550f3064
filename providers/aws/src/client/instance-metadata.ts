/** What an instance can ask about itself: IMDSv2. */
import { CloudError, isCloudError, type CallContext, type ProviderHost } from '@outrigger/cloud-provider';
import { HttpClient, tokenCredentials, type BodyFormat, type Fetch } from '@outrigger/provider-kit';
import { isTrue, type EndpointOverride } from './endpoints.ts';

export interface InstanceMetadataOptions {
  readonly host: Pick<ProviderHost, 'callContext' | 'clock' | 'redact'>;
  /** One for the service `ec2imds` counts. */
  readonly overrides?: readonly EndpointOverride[] | undefined;
  /** `AWS_EC2_METADATA_SERVICE_ENDPOINT`, `AWS_EC2_METADATA_SERVICE_ENDPOINT_MODE`, `AWS_EC2_METADATA_DISABLED`. */
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly fetch?: Fetch | undefined;
}

/** Six hours, the longest that there is. */
const TOKEN_S = 21_600;
/** It answers within milliseconds, or never. */
const TIMEOUT_MS = 2_000;

/** Texts as they are. */
const plain: BodyFormat = { mediaType: 'text/plain', write: String, read: (text) => text };

export class InstanceMetadata implements AsyncDisposable {
  readonly #http: HttpClient;
  readonly #tokens: HttpClient;
  readonly #isDisabled: boolean;

  constructor({ env, fetch, host, overrides = [] }: InstanceMetadataOptions) {
    this.#isDisabled = isTrue(env['AWS_EC2_METADATA_DISABLED']);
    const common = {
      host,
      cloud: 'the instance metadata service',
      root: rootOf(env, overrides),
      fetch,
      format: plain,
      errors: [
        { status: 404, means: 'not-found' },
        { status: 403, means: 'forbidden' },
      ],
      requestTimeoutMs: TIMEOUT_MS,
    } as const;
    this.#tokens = new HttpClient(common);
    const token = tokenCredentials({
      host,
      fetch: async (call) => ({ value: await this.#token(call), expiresAt: host.clock.now() + TOKEN_S * 1000 }),
      headers: (value) => ({ 'x-aws-ec2-metadata-token': value }),
    });
    this.#http = new HttpClient({ ...common, credentials: token });
  }

  /** The text at `/latest/…`: `meta-data/instance-id`. `undefined`: this instance has no such thing. */
  async read(call: CallContext, path: string): Promise<string | undefined> {
    if (this.#isDisabled) {
      throw new CloudError('configuration', 'the instance metadata service is turned off by AWS_EC2_METADATA_DISABLED');
    }
    try {
      return await this.#http.request<string | undefined>(call, 'GET /latest/{+path}', {
        params: { path },
        name: 'GET metadata',
        bucket: 'metadata',
      });
    } catch (error) {
      if (isCloudError(error, 'not-found')) return undefined;
      throw error;
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([this.#http, this.#tokens].map((http) => http[Symbol.asyncDispose]()));
  }

  async #token(call: CallContext): Promise<string> {
    try {
      return await this.#tokens.request<string>(call, 'PUT /latest/api/token', {
        headers: { 'x-aws-ec2-metadata-token-ttl-seconds': `${TOKEN_S}` },
        name: 'PUT metadata token',
        bucket: 'metadata',
      });
    } catch (error) {
      // The answer to the one request that a hop limit of 1 keeps from a container.
      if (isCloudError(error, 'timeout')) {
        throw new CloudError(
          'timeout',
          `the instance metadata service returned no token within ${TIMEOUT_MS / 1000} s: in a pod without host network it needs the hop limit 2 (aws ec2 modify-instance-metadata-options --http-put-response-hop-limit 2); outside of EC2 name region and credentials in the environment`,
          { cause: error },
        );
      }
      throw error;
    }
  }
}

function rootOf(env: InstanceMetadataOptions['env'], overrides: readonly EndpointOverride[]): string {
  const own =
    overrides.find(({ service }) => service.toLowerCase() === 'ec2imds')?.url ??
    env['AWS_EC2_METADATA_SERVICE_ENDPOINT'];
  if (own !== undefined && own !== '') return own.replace(/\/+$/u, '');
  const mode = env['AWS_EC2_METADATA_SERVICE_ENDPOINT_MODE']?.toLowerCase();
  return mode === 'ipv6' ? 'http://[fd00:ec2::254]' : 'http://169.254.169.254';
}
